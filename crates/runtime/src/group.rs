//! Methods of one program that keep their state in the same memory: `prefill` and `decode`, say, over one KV cache.

use crate::error::{Error, Result};
use crate::file::{FileValue, MethodFile, Storage};
use crate::load_options::LoadOptions;
use crate::memory::Arena;
use crate::method::{self, Method, Outputs};
use crate::preflight::StateBuffer;
use crate::program::Program;
use crate::snapshot::{self, Snapshot};
use crate::tensor::TensorRef;
use std::fmt;
use std::ops::Range;

/// The arena of memory id 2, in which ExecuTorch's `share_mutable_buffers` puts the mutable buffers of all methods and
/// nothing else (exir/passes/memory_planning_pass.py). Arenas are counted from memory id 1.
const SHARED: usize = 1;

/// Methods that share their state, loaded by [`Program::load_group`]. They run one at a time, and each goes on from what
/// the others left behind.
pub struct MethodGroup {
    methods: Vec<Method>,
    /// The names, joined: what snapshots belong to.
    name: String,
    program: Program,
    /// The shared arena, then those that each method has for itself, by their index in `arenas_of`.
    arenas: Vec<Arena>,
    /// For each method, where its arenas are among all.
    arenas_of: Vec<Vec<usize>>,
    state: Vec<StateBuffer>,
}

impl MethodGroup {
    pub(crate) fn load(program: &Program, names: &[&str], options: &LoadOptions) -> Result<Self> {
        for (at, name) in names.iter().enumerate() {
            program.method_meta(name)?;
            if names[..at].contains(name) {
                return Err(unshared(format!("`{name}` is named twice")));
            }
        }
        let file = program.file()?;
        let files = names.iter().map(|name| file.method(name).ok_or_else(|| program.changed()));
        let files = files.collect::<Result<Vec<_>>>()?;
        let own = |file: &MethodFile| file.arena_bytes().get(SHARED).copied().unwrap_or(0);
        let bytes = files.iter().map(|file| own(file)).max().unwrap_or(0);
        if bytes == 0 {
            return Err(unshared("none of them has a buffer in memory id 2".into()));
        }
        let memory = usize::try_from(bytes).ok().and_then(Arena::new);
        let memory = memory.ok_or_else(|| Error::OutOfMemory { method: names.join("+"), bytes })?;

        // What is there for the methods that follow; the shared arena counts once.
        let mut budget = options.memory_budget_bytes.map(|budget| budget.saturating_sub(bytes));
        let mut methods: Vec<Method> = Vec::with_capacity(files.len());
        for file_of in &files {
            let has = own(file_of);
            let options = LoadOptions {
                memory_budget_bytes: budget.map(|budget| budget.saturating_add(has)),
                ..options.clone()
            };
            let method = Method::load_sharing(program, &file, file_of, &options, Some((SHARED, &memory)))?;
            check_layout(file_of, &method, &methods)?;
            let taken = method.memory().need.total_bytes() - has;
            budget = budget.map(|budget| budget.saturating_sub(taken));
            methods.push(method);
        }
        Ok(Self::new(program, methods, memory))
    }

    fn new(program: &Program, methods: Vec<Method>, memory: Arena) -> Self {
        let mut arenas = vec![memory];
        let mut arenas_of = Vec::new();
        let mut state = Vec::new();
        for method in &methods {
            let mut place = |(at, arena): (usize, &Arena)| {
                if at == SHARED {
                    return 0;
                }
                arenas.push(arena.share());
                arenas.len() - 1
            };
            let places: Vec<usize> = method.arenas().iter().enumerate().map(&mut place).collect();
            for buffer in method.state() {
                let buffer = StateBuffer { arena: places[buffer.arena], ..buffer.clone() };
                let known = |known: &StateBuffer| known.arena == buffer.arena && known.range == buffer.range;
                if !state.iter().any(known) {
                    state.push(buffer);
                }
            }
            arenas_of.push(places);
        }
        let names: Vec<_> = methods.iter().map(|method| method.meta().name.as_str()).collect();
        let name = names.join("+");
        Self { methods, name, program: program.clone(), arenas, arenas_of, state }
    }

    /// The methods, in the order in which they were asked for.
    pub fn methods(&self) -> &[Method] {
        &self.methods
    }

    /// The values that live on from run to run: those that the methods share, in arena 0, and those that each has for
    /// itself.
    pub fn state(&self) -> &[StateBuffer] {
        &self.state
    }

    /// Runs the method `name`. See [`Method::execute`].
    ///
    /// # Errors
    /// [`Error::NoSuchMethod`], those of [`Method::execute`], and [`Error::Poisoned`] once any of the methods is.
    pub fn execute<'a>(&'a mut self, name: &str, inputs: &[TensorRef<'a>]) -> Result<Outputs<'a>> {
        self.must_be_sound()?;
        let Some(at) = self.methods.iter().position(|method| method.meta().name == name) else {
            let available = self.methods.iter().map(|method| method.meta().name.clone()).collect();
            return Err(Error::NoSuchMethod { name: name.to_owned(), available });
        };
        self.methods[at].execute(inputs)
    }

    /// Copies all planned memory of all methods.
    ///
    /// # Errors
    /// As [`Method::snapshot`].
    pub fn snapshot(&self) -> Result<Snapshot> {
        self.snapshot_of(snapshot::whole(&self.arenas))
    }

    /// Copies only the values that live on from run to run ([`MethodGroup::state`]), the shared ones once.
    ///
    /// # Errors
    /// As [`Method::snapshot`].
    pub fn snapshot_state(&self) -> Result<Snapshot> {
        self.snapshot_of(method::parts_of(&self.state))
    }

    fn snapshot_of(&self, parts: Vec<snapshot::Part>) -> Result<Snapshot> {
        self.must_be_sound()?;
        let identity = snapshot::identity(self.program.fingerprint()?, &self.name, &self.arenas);
        Snapshot::take(identity, parts, &self.arenas)
    }

    /// Whether [`MethodGroup::restore`] would take `snapshot`.
    ///
    /// # Errors
    /// As [`Method::restore`].
    pub fn check_snapshot(&self, snapshot: &Snapshot) -> Result<()> {
        self.must_be_sound()?;
        snapshot.must_fit(&snapshot::identity(self.program.fingerprint()?, &self.name, &self.arenas))
    }

    /// Puts back what `snapshot` holds, which must be of a group of the same methods in the same order.
    ///
    /// # Errors
    /// As [`Method::restore`].
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<()> {
        self.must_be_sound()?;
        let identity = snapshot::identity(self.program.fingerprint()?, &self.name, &self.arenas);
        snapshot.put_back(&identity, &mut self.arenas)
    }

    /// Brings the values that live on from run to run back to what they were when the methods were loaded.
    ///
    /// # Errors
    /// As [`Method::reset`].
    pub fn reset(&mut self) -> Result<()> {
        self.must_be_sound()?;
        // In the order of the load: a method may have no contents for a buffer that another has some for.
        for buffer in &self.state {
            self.arenas[buffer.arena].as_mut_slice()[bytes_of(&buffer.range)].fill(0);
        }
        for (method, places) in self.methods.iter().zip(&self.arenas_of) {
            for buffer in method.state() {
                let Some(initial) = &buffer.initial else { continue };
                let memory = &mut self.arenas[places[buffer.arena]].as_mut_slice()[bytes_of(&buffer.range)];
                memory.copy_from_slice(&self.program.initial(initial, memory.len())?);
            }
        }
        Ok(())
    }

    fn must_be_sound(&self) -> Result<()> {
        self.methods.iter().try_for_each(Method::must_be_sound)
    }
}

impl fmt::Debug for MethodGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MethodGroup").field("program", &self.program).field("name", &self.name).finish()
    }
}

/// Checks that the shared arena holds nothing but state of `method`, and that it and the `others` mean the same buffers by
/// the same places.
fn check_layout(file: &MethodFile, method: &Method, others: &[Method]) -> Result<()> {
    let shared = |method: &'_ Method| -> Vec<StateBuffer> {
        method.state().iter().filter(|buffer| buffer.arena == SHARED).cloned().collect()
    };
    let mine = shared(method);
    let name = &method.meta().name;
    for tensor in file.values.iter().filter_map(FileValue::as_tensor) {
        let Storage::Planned { arena: SHARED, offset, .. } = tensor.storage else { continue };
        let inside =
            |buffer: &StateBuffer| buffer.range.start <= offset && offset + tensor.bytes <= buffer.range.end;
        if tensor.bytes > 0 && !mine.iter().any(inside) {
            return Err(unshared(format!("`{name}` has more than state in memory id 2, at byte {offset}")));
        }
    }
    for other in others {
        for (theirs, buffer) in
            shared(other).iter().flat_map(|theirs| mine.iter().map(move |mine| (theirs, mine)))
        {
            let (Some(one), Some(two)) = (&buffer.name, &theirs.name) else { continue };
            let meet = buffer.range.start < theirs.range.end && theirs.range.start < buffer.range.end;
            if (one == two) != (buffer.range == theirs.range) || (one != two && meet) {
                return Err(unshared(format!(
                    "`{one}` of `{name}` and `{two}` of `{}` are laid out differently",
                    other.meta().name
                )));
            }
        }
    }
    Ok(())
}

fn bytes_of(range: &Range<u64>) -> Range<usize> {
    range.start as usize..range.end as usize
}

fn unshared(reason: String) -> Error {
    Error::NotShared { reason }
}
