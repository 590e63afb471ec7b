//! A loaded method: borrowed inputs in, borrowed outputs out, nothing allocated on the way.

use crate::bridge::ffi;
use crate::delegate::DelegateOptions;
use crate::delegate::xnnpack;
use crate::error::{Code, Error, Result};
use crate::external::ExternalData;
use crate::file::{Instruction, MethodFile, ProgramFile};
use crate::load_options::LoadOptions;
use crate::memory::{self, Arena, MemoryNeed, MemoryReport};
use crate::metadata::{MethodMeta, TensorMeta, ValueMeta, tag};
use crate::preflight::{self, Cleared, StateBuffer};
use crate::profile::{Plan, Tracing};
use crate::program::{Program, failed};
use crate::snapshot::{self, Part, Snapshot};
use crate::tensor::{DType, TensorRef, TensorView};
use crate::threads::PoolUse;
use cxx::UniquePtr;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// A method that is ready to run. It belongs to one thread at a time.
pub struct Method {
    // In the order in which they must go: the method, its memory, what it reads from.
    pub(crate) method: UniquePtr<ffi::Method>,
    /// The planned arenas, then one for each buffer that the plan left out.
    arenas: Vec<Arena>,
    /// Places of outputs that have none in the plan.
    _outputs: Vec<Arena>,
    program: Program,
    meta: MethodMeta,
    /// The inputs that are tensors, by their index among all.
    tensors: Vec<usize>,
    state: Vec<StateBuffer>,
    need: MemoryNeed,
    delegate_options: DelegateOptions,
    /// What its delegates need for as long as it lives.
    _holds: Vec<Arc<dyn Any + Send + Sync>>,
    /// Whether it jumps back: a loop's counter lives on from run to run, and is 0 again only at the loop's end.
    loops: bool,
    poisoned: bool,
    /// Set if it was loaded for profiling.
    pub(crate) tracing: Option<Tracing>,
    _pool: PoolUse,
}

// SAFETY: a method has no thread-local state; it is used through `&mut` only.
unsafe impl Send for Method {}

impl Method {
    pub(crate) fn load(
        program: &Program,
        file: &ProgramFile,
        method: &MethodFile,
        options: &LoadOptions,
    ) -> Result<Self> {
        Self::load_sharing(program, file, method, options, None)
    }

    /// Loads it with a given arena in place of its own one of that index. The given one is large enough, and in use by
    /// nobody while the method runs.
    pub(crate) fn load_sharing(
        program: &Program,
        file: &ProgramFile,
        method: &MethodFile,
        options: &LoadOptions,
        given: Option<(usize, &Arena)>,
    ) -> Result<Self> {
        let meta = MethodMeta::new(method);
        let Cleared { state, need, reads_in_place, delegates } =
            preflight::clear(program, file, method, options)?;
        let opened = program.ffi()?;
        if reads_in_place {
            opened.keep_segments();
        }
        let arena = |bytes: u64| {
            let arena = usize::try_from(bytes).ok().and_then(Arena::new);
            arena.ok_or_else(|| Error::OutOfMemory { method: meta.name.clone(), bytes })
        };
        let place = |(index, bytes)| match given {
            Some((at, given)) if at == index => Ok(given.share()),
            _ => arena(bytes),
        };
        let mut arenas =
            method.arena_bytes().into_iter().enumerate().map(place).collect::<Result<Vec<_>>>()?;
        let spans: Vec<_> = arenas.iter().map(Arena::span).collect();
        let pool = PoolUse::new();
        ffi::start_log();
        let failed = |code| failed(format!("load method `{}` of {}", meta.name, program.name()), code);
        let data = program.external().map_or(std::ptr::null(), ExternalData::map);
        // SAFETY: the arenas are kept beside the method and dropped after it; nothing else touches them.
        let mut loaded = unsafe { ffi::new_method(&spans) };
        let plan = options.profiling.then(|| Plan::new(method));
        if let Some(plan) = &plan {
            loaded.pin_mut().set_traced(plan.first_guess());
            loaded.pin_mut().start_trace();
        }
        cxx::let_cxx_string!(name = &meta.name);
        // SAFETY: the data is kept by the program, which is kept beside the method.
        match unsafe { loaded.pin_mut().load(opened, &name, data, &delegates.for_load) } {
            0 => {}
            code => return Err(failed(code)),
        }
        loaded.pin_mut().stop_trace();
        let delegate_options = delegates.read_back(&loaded)?;
        let tracing = plan.map(|plan| Tracing::new(plan, &loaded));
        let outputs = place_outputs(method, &mut loaded, arena, failed)?;
        arenas.extend(place_buffers(method, &mut loaded, arena, failed)?);
        let is_tensor = |at: &usize| meta.inputs[*at].as_tensor().is_some();
        let tensors = (0..meta.inputs.len()).filter(is_tensor).collect();
        Ok(Self {
            method: loaded,
            arenas,
            _outputs: outputs,
            program: program.clone(),
            meta,
            tensors,
            state,
            need,
            delegate_options,
            _holds: delegates.holds,
            loops: jumps_back(method),
            poisoned: false,
            tracing,
            _pool: pool,
        })
    }

    /// The method's metadata.
    pub fn meta(&self) -> &MethodMeta {
        &self.meta
    }

    /// The options of its delegates that hold for it, given or not, as ExecuTorch has them.
    pub fn delegate_options(&self) -> &DelegateOptions {
        &self.delegate_options
    }

    /// The program that it was loaded from.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The values that live on from run to run, such as a KV cache.
    pub fn state(&self) -> &[StateBuffer] {
        &self.state
    }

    /// What it takes, and what the process holds now.
    pub fn memory(&self) -> MemoryReport {
        MemoryReport {
            need: self.need.clone(),
            arena_bytes: self.arenas.iter().map(|arena| arena.as_slice().len() as u64).collect(),
            resident: memory::resident(),
        }
    }

    /// Copies all planned memory.
    ///
    /// # Errors
    /// [`Error::Poisoned`], [`Error::OutOfMemory`], or [`Error::Read`] if the program's file can't be read any more.
    pub fn snapshot(&self) -> Result<Snapshot> {
        self.snapshot_of(snapshot::whole(&self.arenas))
    }

    /// Copies only the values that live on from run to run ([`Method::state`]): all that later runs depend on.
    ///
    /// # Errors
    /// As [`Method::snapshot`].
    pub fn snapshot_state(&self) -> Result<Snapshot> {
        self.snapshot_of(parts_of(&self.state))
    }

    fn snapshot_of(&self, parts: Vec<Part>) -> Result<Snapshot> {
        self.must_be_sound()?;
        let identity = snapshot::identity(self.program.fingerprint()?, &self.meta.name, &self.arenas);
        Snapshot::take(identity, parts, &self.arenas)
    }

    /// Whether [`Method::restore`] would take `snapshot`.
    ///
    /// # Errors
    /// As [`Method::restore`].
    pub fn check_snapshot(&self, snapshot: &Snapshot) -> Result<()> {
        self.must_be_sound()?;
        snapshot.must_fit(&snapshot::identity(self.program.fingerprint()?, &self.meta.name, &self.arenas))
    }

    /// Puts back what `snapshot` holds. Runs go on as they did from where it was taken, bit for bit.
    ///
    /// # Errors
    /// [`Error::SnapshotMismatch`] if it was taken from another program or method, [`Error::Poisoned`].
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<()> {
        self.must_be_sound()?;
        let identity = snapshot::identity(self.program.fingerprint()?, &self.meta.name, &self.arenas);
        snapshot.put_back(&identity, &mut self.arenas)
    }

    /// Brings the values that live on from run to run back to what they were when the method was loaded.
    ///
    /// # Errors
    /// [`Error::Poisoned`], or [`Error::Read`] if the program's file can't be read any more.
    pub fn reset(&mut self) -> Result<()> {
        self.must_be_sound()?;
        for buffer in &self.state {
            let place = buffer.range.start as usize..buffer.range.end as usize;
            let memory = &mut self.arenas[buffer.arena].as_mut_slice()[place];
            match &buffer.initial {
                None => memory.fill(0),
                Some(initial) => memory.copy_from_slice(&self.program.initial(initial, memory.len())?),
            }
        }
        Ok(())
    }

    pub(crate) fn arenas(&self) -> &[Arena] {
        &self.arenas
    }

    pub(crate) fn must_be_sound(&self) -> Result<()> {
        if self.poisoned { Err(Error::Poisoned { method: self.meta.name.clone() }) } else { Ok(()) }
    }

    /// Runs the method on `inputs`, one for each input that is a tensor, in order, and gives its outputs.
    ///
    /// Inputs that are not memory planned are read in place, others are copied into their arena. Nothing of ours is
    /// allocated, unless it fails.
    ///
    /// # Errors
    /// [`Error::InputCount`], [`Error::InputType`] or [`Error::InputShape`] if `inputs` do not match the metadata;
    /// [`Error::ExecuTorch`] if a kernel or delegate fails. The method can be run again after any, but for
    /// [`Code::Aborted`] and for a failure in a method with loops: [`Error::Poisoned`] from then on.
    pub fn execute<'a>(&'a mut self, inputs: &[TensorRef<'a>]) -> Result<Outputs<'a>> {
        self.must_be_sound()?;
        if inputs.len() != self.tensors.len() {
            return Err(Error::InputCount {
                method: self.meta.name.clone(),
                expected: self.tensors.len(),
                found: inputs.len(),
            });
        }
        ffi::start_log();
        for (&index, input) in self.tensors.iter().zip(inputs) {
            let ValueMeta::Tensor(expected) = &self.meta.inputs[index] else { continue };
            check_input(&self.meta, index, input, expected)?;
            // SAFETY: the data has the bytes that shape and type ask for (`TensorRef::new`) and is borrowed for as long
            // as the outputs are, which is until after `execute`.
            let code = unsafe {
                self.method.pin_mut().bind_tensor(
                    index,
                    input.dtype.to_raw(),
                    input.sizes,
                    &expected.dim_order,
                    input.bytes.as_ptr(),
                )
            };
            if code != 0 {
                return Err(self.broken_off(format!("bind input {index} of"), code));
            }
        }
        match self.method.pin_mut().execute() {
            0 => Ok(Outputs { method: &self.method, name: &self.meta.name }),
            code => {
                let error = self.broken_off("run".into(), code);
                self.poisoned |= self.loops;
                Err(error)
            }
        }
    }

    /// The error for `code`. After an abort the method is in no known state.
    fn broken_off(&mut self, action: String, code: u32) -> Error {
        let error = failed(format!("{action} method `{}`", self.meta.name), code);
        self.poisoned = matches!(error, Error::ExecuTorch { code: Code::Aborted, .. });
        error
    }
}

impl fmt::Debug for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Method").field("program", &self.program).field("name", &self.meta.name).finish()
    }
}

/// What a run gave: views into the method's memory, valid until the next run.
pub struct Outputs<'m> {
    method: &'m ffi::Method,
    name: &'m str,
}

/// One output.
#[derive(Debug, Clone, Copy)]
pub enum Value<'m> {
    /// A tensor.
    Tensor(TensorView<'m>),
    /// A whole number.
    Int(i64),
    /// A number.
    Double(f64),
    /// A truth value.
    Bool(bool),
    /// Anything else, by ExecuTorch's name of its kind.
    Other(&'static str),
}

impl<'m> Outputs<'m> {
    /// The number of outputs.
    pub fn len(&self) -> usize {
        self.method.output_count()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Output `index`.
    ///
    /// # Errors
    /// [`Error::NoSuchOutput`].
    pub fn get(&self, index: usize) -> Result<Value<'m>> {
        if index >= self.len() {
            return Err(Error::NoSuchOutput { method: self.name.to_owned(), index, count: self.len() });
        }
        let value = self.method.output(index);
        Ok(match value.tag {
            tag::TENSOR => {
                // SAFETY: the pointers are into the method's memory, which is borrowed for 'm and not written
                // until the next run; their lengths come from the same tensor.
                let (sizes, bytes) =
                    unsafe { (slice(value.sizes, value.dims), slice(value.data, value.bytes)) };
                Value::Tensor(TensorView { index, dtype: DType::from_raw(value.dtype), sizes, bytes })
            }
            tag::INT => Value::Int(value.integer),
            tag::DOUBLE => Value::Double(value.real),
            tag::BOOL => Value::Bool(value.integer != 0),
            other => Value::Other(tag::name(other)),
        })
    }

    /// Output `index`, which must be a tensor.
    ///
    /// # Errors
    /// [`Error::NoSuchOutput`], or [`Error::OutputType`] if it is something else.
    pub fn tensor(&self, index: usize) -> Result<TensorView<'m>> {
        match self.get(index)? {
            Value::Tensor(tensor) => Ok(tensor),
            other => Err(Error::OutputType { index, expected: "a tensor", found: format!("{other:?}") }),
        }
    }
}

/// # Safety
/// `data` is null, or points to `len` values that live for `'a` and are not written meanwhile.
unsafe fn slice<'a, T>(data: *const T, len: usize) -> &'a [T] {
    // SAFETY: the caller's promise; an empty tensor may have no address.
    if data.is_null() || len == 0 { &[] } else { unsafe { std::slice::from_raw_parts(data, len) } }
}

fn check_input(meta: &MethodMeta, index: usize, input: &TensorRef<'_>, expected: &TensorMeta) -> Result<()> {
    let method = || meta.name.clone();
    if expected.dtype != input.dtype {
        return Err(Error::InputType {
            method: method(),
            index,
            expected: expected.dtype,
            found: input.dtype,
        });
    }
    let fits = expected.sizes.len() == input.sizes.len()
        && expected.sizes.iter().zip(input.sizes).all(|(bound, size)| size <= bound);
    // XNNPACK's convolutions leave the shape of what comes of no image as it happens to be in memory.
    let empty = input.sizes.contains(&0) && meta.delegates.iter().any(|id| id == xnnpack::ID);
    if !fits || empty {
        return Err(Error::InputShape {
            method: method(),
            index,
            expected: expected.sizes.clone(),
            found: input.sizes.to_vec(),
        });
    }
    Ok(())
}

/// Where `state` is.
pub(crate) fn parts_of(state: &[StateBuffer]) -> Vec<Part> {
    let part = |buffer: &StateBuffer| {
        let (offset, bytes) = (buffer.range.start as usize, (buffer.range.end - buffer.range.start) as usize);
        Part { arena: buffer.arena, offset, bytes }
    };
    snapshot::joined(state.iter().map(part).collect())
}

fn jumps_back(method: &MethodFile) -> bool {
    let back = |(at, step): (usize, &Instruction)| matches!(step, Instruction::JumpFalse { destination, .. } if *destination <= at);
    method.instructions.iter().enumerate().any(back)
}

/// Gives the outputs that the plan left out a place each, to be kept beside the method and dropped after it.
fn place_outputs(
    method: &MethodFile,
    loaded: &mut UniquePtr<ffi::Method>,
    arena: impl Fn(u64) -> Result<Arena>,
    failed: impl Fn(u32) -> Error,
) -> Result<Vec<Arena>> {
    let place = |index| {
        let place = arena(bytes_of(method, method.outputs[index]))?;
        let span = place.span();
        // SAFETY: the caller keeps the place as long as the method.
        match unsafe { loaded.pin_mut().place_output(index, span.data, span.bytes) } {
            0 => Ok(place),
            code => Err(failed(code)),
        }
    };
    method.unplaced_outputs().into_iter().map(place).collect()
}

/// As [`place_outputs`], for mutable buffers.
fn place_buffers(
    method: &MethodFile,
    loaded: &mut UniquePtr<ffi::Method>,
    arena: impl Fn(u64) -> Result<Arena>,
    failed: impl Fn(u32) -> Error,
) -> Result<Vec<Arena>> {
    let place = |at| {
        let place = arena(bytes_of(method, at))?;
        let span = place.span();
        let name = method.values[at].as_tensor().and_then(|tensor| tensor.name.as_deref());
        cxx::let_cxx_string!(name = name.unwrap_or_default());
        // SAFETY: the caller keeps the place as long as the method.
        match unsafe { loaded.pin_mut().place_buffer(&name, span.data, span.bytes) } {
            0 => Ok(place),
            code => Err(failed(code)),
        }
    };
    method.unplaced_buffers().into_iter().map(place).collect()
}

fn bytes_of(method: &MethodFile, value: usize) -> u64 {
    method.values[value].as_tensor().map_or(0, |tensor| tensor.bytes)
}
