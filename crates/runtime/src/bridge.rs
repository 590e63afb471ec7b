//! The raw calls into the C++ side (`cpp/`). Nothing outside this crate sees them.

#![allow(missing_docs, unreachable_pub)]

use crate::kernels::pool::{Work, do_task};
use crate::kernels::{
    run_add_rms_norm, run_attention, run_embedding, run_gated, run_linear, run_rms_norm, run_rope_table,
    run_rotary_attention,
};

#[cxx::bridge(namespace = "nearside")]
pub(crate) mod ffi {
    /// One planned arena, owned by the Rust side.
    struct ArenaSpan {
        data: *mut u8,
        bytes: usize,
    }

    /// An output after a run; the pointers are into the method's memory.
    struct OutputValue {
        tag: u32,
        dtype: i8,
        sizes: *const i32,
        dims: usize,
        data: *const u8,
        bytes: usize,
        integer: i64,
        real: f64,
    }

    /// The type of an option's value.
    #[derive(Debug)]
    enum DelegateOptionKind {
        Bool,
        Int,
        Text,
    }

    /// An option of a delegate; `kind` says which of the last three counts.
    #[derive(Debug)]
    struct DelegateOption {
        delegate: String,
        key: String,
        kind: DelegateOptionKind,
        flag: bool,
        integer: i32,
        text: String,
    }

    /// What a traced load or run tells of.
    #[derive(Debug)]
    enum TraceKind {
        /// `Method::execute`.
        Execute,
        /// An operator's kernel.
        Operator,
        /// A delegate's call.
        Delegate,
        /// Something within a delegate's call, told by the delegate.
        Inner,
        /// A move, a jump or a free.
        Control,
        /// A step of the load.
        Load,
        /// A delegate's initialisation: from when its payload is loaded to when it frees it.
        DelegateInit,
        /// Anything else.
        Other,
    }

    #[derive(Debug, Clone, Copy)]
    struct TraceEvent {
        kind: TraceKind,
        thread: u32,
        /// -1 outside of instructions.
        instruction: i64,
        /// The delegate's own number for an inner event, -1 without; the payload's offset for an initialisation.
        detail: i64,
        start_ns: u64,
        /// 0 if the end was not told.
        end_ns: u64,
        name_at: usize,
        name_bytes: usize,
    }

    /// A tensor of a call of one of our kernels.
    #[derive(Debug)]
    struct KernelTensor {
        /// Whether there is one; nothing else counts if not. Only optional arguments may be without.
        given: bool,
        dtype: i8,
        /// Whether its elements are in row-major order.
        row_major: bool,
        sizes: *const i32,
        dims: usize,
        data: *mut u8,
        bytes: usize,
    }

    /// A text of a call of one of our kernels.
    #[derive(Debug)]
    struct KernelText {
        data: *const u8,
        bytes: usize,
    }

    /// The arguments of `nearside::attention.out`.
    #[derive(Debug)]
    struct AttentionCall {
        query: KernelTensor,
        key: KernelTensor,
        value: KernelTensor,
        key_cache: KernelTensor,
        value_cache: KernelTensor,
        cache_position: KernelTensor,
        visible_until: KernelTensor,
        scale: f64,
        window: i64,
        out: KernelTensor,
    }

    /// The arguments of `nearside::linear.out`.
    #[derive(Debug)]
    struct LinearCall {
        x: KernelTensor,
        weight: KernelTensor,
        bias: KernelTensor,
        rows: i64,
        bits: i64,
        out: KernelTensor,
    }

    /// The arguments of `nearside::embedding.out`.
    #[derive(Debug)]
    struct EmbeddingCall {
        tokens: KernelTensor,
        weight: KernelTensor,
        columns: i64,
        bits: i64,
        scale: f64,
        out: KernelTensor,
    }

    /// The arguments of `nearside::rms_norm.out`.
    #[derive(Debug)]
    struct RmsNormCall {
        x: KernelTensor,
        weight: KernelTensor,
        eps: f64,
        out: KernelTensor,
    }

    /// The arguments of `nearside::add_rms_norm.out`.
    #[derive(Debug)]
    struct AddRmsNormCall {
        x: KernelTensor,
        delta: KernelTensor,
        weight: KernelTensor,
        eps: f64,
        sum: KernelTensor,
        normed: KernelTensor,
    }

    /// The arguments of `nearside::gated.out`.
    #[derive(Debug)]
    struct GatedCall {
        x: KernelTensor,
        activation: KernelText,
        out: KernelTensor,
    }

    /// The arguments of `nearside::rope_table.out`.
    #[derive(Debug)]
    struct RopeTableCall {
        cache_position: KernelTensor,
        frequencies: KernelTensor,
        out: KernelTensor,
    }

    /// The arguments of `nearside::rotary_attention.out`.
    #[derive(Debug)]
    struct RotaryAttentionCall {
        qkv: KernelTensor,
        query_norm: KernelTensor,
        key_norm: KernelTensor,
        eps: f64,
        table: KernelTensor,
        key_cache: KernelTensor,
        value_cache: KernelTensor,
        cache_position: KernelTensor,
        visible_until: KernelTensor,
        heads: i64,
        scale: f64,
        window: i64,
        out: KernelTensor,
    }

    extern "Rust" {
        /// What is wrong with the call, or nothing.
        ///
        /// # Safety
        /// The sizes and data of the tensors must be there and stay untouched until this returns.
        unsafe fn run_attention(call: &AttentionCall) -> String;
        /// # Safety
        /// As above.
        unsafe fn run_linear(call: &LinearCall) -> String;
        /// # Safety
        /// As above.
        unsafe fn run_embedding(call: &EmbeddingCall) -> String;
        /// # Safety
        /// As for `run_attention`.
        unsafe fn run_rms_norm(call: &RmsNormCall) -> String;
        /// # Safety
        /// As for `run_attention`.
        unsafe fn run_add_rms_norm(call: &AddRmsNormCall) -> String;
        /// # Safety
        /// As for `run_attention`.
        unsafe fn run_gated(call: &GatedCall) -> String;
        /// # Safety
        /// As for `run_attention`.
        unsafe fn run_rope_table(call: &RopeTableCall) -> String;
        /// # Safety
        /// As for `run_attention`.
        unsafe fn run_rotary_attention(call: &RotaryAttentionCall) -> String;

        type Work<'a>;
        /// Does one of the tasks that `run_on_pool` was called with.
        fn do_task(work: &Work<'_>, task: usize);
    }

    struct GuardFacts {
        name: String,
        values: usize,
    }

    unsafe extern "C++" {
        include!("bridge.h");

        fn start_log();
        fn logged_errors() -> String;

        type Program;
        /// `file`: a descriptor that stays open as long as the program and every method loaded from it.
        fn open_file(file: i32, bytes: u64, code: &mut u32) -> UniquePtr<Program>;
        /// # Safety
        /// `bytes` must outlive the program and every method loaded from it. `droppable`: they map a file.
        unsafe fn open_bytes(bytes: &[u8], droppable: bool, code: &mut u32) -> UniquePtr<Program>;

        /// From now on, what delegates are given stays in memory as long as the program does.
        fn keep_segments(self: &Program);

        type DataMap;
        fn new_data_map() -> UniquePtr<DataMap>;
        /// # Safety
        /// The slices must outlive the map. Keys must be added in order. `droppable`: `data` maps a file.
        #[allow(clippy::too_many_arguments)]
        unsafe fn add(
            self: Pin<&mut DataMap>,
            key: &str,
            data: &[u8],
            droppable: bool,
            is_tensor: bool,
            dtype: i8,
            sizes: &[i32],
            dim_order: &[u8],
        );

        type Method;
        /// # Safety
        /// The arenas must outlive the method and be touched by nothing else.
        unsafe fn new_method(arenas: &[ArenaSpan]) -> UniquePtr<Method>;
        fn set_traced(self: Pin<&mut Method>, events: usize);
        fn start_trace(self: Pin<&mut Method>);
        fn stop_trace(self: Pin<&mut Method>) -> bool;
        fn trace_events(self: &Method) -> &[TraceEvent];
        fn trace_text(self: &Method) -> &[u8];
        /// # Safety
        /// `data` is null or outlives the method.
        unsafe fn load(
            self: Pin<&mut Method>,
            program: &Program,
            name: &CxxString,
            data: *const DataMap,
            options: &[DelegateOption],
        ) -> u32;
        /// # Safety
        /// `data` must have the bytes and outlive the method.
        unsafe fn place_output(self: Pin<&mut Method>, index: usize, data: *mut u8, bytes: usize) -> u32;
        /// # Safety
        /// As for `place_output`.
        unsafe fn place_buffer(self: Pin<&mut Method>, name: &CxxString, data: *mut u8, bytes: usize) -> u32;
        fn delegate_option(self: &Method, option: &mut DelegateOption) -> bool;
        /// # Safety
        /// `data` must hold the tensor and stay valid until `execute` has returned.
        unsafe fn bind_tensor(
            self: Pin<&mut Method>,
            index: usize,
            dtype: i8,
            sizes: &[i32],
            dim_order: &[u8],
            data: *const u8,
        ) -> u32;
        fn execute(self: Pin<&mut Method>) -> u32;
        fn output_count(self: &Method) -> usize;
        fn output(self: &Method, index: usize) -> OutputValue;

        fn set_delegate_option(option: &DelegateOption) -> u32;
        fn get_delegate_option(option: &mut DelegateOption) -> bool;

        fn registered_delegates() -> Vec<String>;
        fn delegate_says_available(id: &CxxString) -> bool;
        fn registered_operators() -> Vec<String>;
        fn own_operators() -> Vec<String>;
        fn has_operator(name: &CxxString) -> bool;
        /// The operators whose calls are checked when they are made, with the number of values that they pass. For the
        /// test that compares them with the signatures.
        #[allow(dead_code)]
        fn guarded_operators() -> Vec<GuardFacts>;

        fn thread_count() -> usize;
        fn set_thread_count(threads: u32) -> bool;
        /// Does the tasks `0..tasks` on the pool's threads, the calling one among them, and returns when all are done.
        fn run_on_pool(work: &Work<'_>, tasks: usize);
    }
}
