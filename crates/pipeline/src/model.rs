//! An opened model: a package, its inference thread and the ways to give it work.

use crate::error::{Error, Result};
use crate::images::{Classification, Image, ImageQueue, Task};
use crate::inference::{self, InferenceLinks};
use crate::loaded::Loaded;
use crate::package::Package;
use crate::package::manifest::TaskKind;
use crossbeam_channel::bounded;
use nearside_runtime::delegate::DelegateOptions;
use nearside_runtime::memory::MemoryNeed;
use nearside_runtime::{LoadMode, LoadOptions, set_thread_count, thread_count};
use nearside_vision::{Frame, FrameBuffer, ImageSpec, Photo};
use std::fmt;
use std::num::NonZero;
use std::path::Path;
use std::sync::{Arc, Once};
use std::thread::JoinHandle;
use std::time::Duration;

/// How a model is opened.
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    /// The variant to load; the first that can run here and meets the demands if unset.
    pub variant: Option<String>,
    /// Threads for kernels, for the whole process: it can only change while no model is open. If unset, one a performance
    /// core, but one core at least is left to the app.
    pub threads: Option<usize>,
    /// How the program's files are brought into memory.
    pub load_mode: LoadMode,
    /// The least share of operator calls that must run in delegates, 0 to 1, compared with [`ModelInfo::coverage`] as
    /// the program tells it. A program whose delegates do not tell meets no demand above 0, unless nothing is left on
    /// portable kernels.
    pub min_coverage: Option<f64>,
    /// Ids of the delegates that the model may use. It must use one of them, and no other.
    pub delegates: Option<Vec<String>>,
    /// The most memory that this model may take, bytes: [`MemoryNeed::total_bytes`] of its method, whatever else the
    /// process holds. Mapped files do not count.
    pub memory_budget_bytes: Option<u64>,
    /// Options of delegates; those of delegates that the model does not use are ignored.
    pub delegate_options: DelegateOptions,
}

impl OpenOptions {
    /// What is demanded of a method before it is loaded.
    pub(crate) fn demands(&self) -> Result<LoadOptions> {
        let invalid = |what: String| Err(Error::InvalidArgument(what));
        if let Some(share) = self.min_coverage.filter(|share| !(0.0..=1.0).contains(share)) {
            return invalid(format!("a coverage of {share} was demanded; give 0 to 1"));
        }
        if self.delegates.as_ref().is_some_and(Vec::is_empty) {
            return invalid("no delegate was allowed; name at least one, or leave the choice open".into());
        }
        if self.memory_budget_bytes == Some(0) {
            return invalid("a memory budget of 0 bytes was given; give more, or leave it out".into());
        }
        Ok(LoadOptions {
            min_coverage: self.min_coverage,
            delegates: self.delegates.clone(),
            memory_budget_bytes: self.memory_budget_bytes,
            delegate_options: self.delegate_options.clone(),
            ..LoadOptions::default()
        })
    }
}

/// What is known of an opened model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelInfo {
    /// Its name.
    pub name: String,
    /// What it does.
    pub task: TaskKind,
    /// SPDX id of the licence of its weights.
    pub licence: String,
    /// Where it comes from.
    pub source: String,
    /// The variant that was loaded.
    pub variant: String,
    /// Its quantisation scheme, `none` for fp32.
    pub quantisation: String,
    /// Ids of the delegates that it uses.
    pub delegates: Vec<String>,
    /// Operators left on portable kernels.
    pub operators: Vec<String>,
    /// Operator calls inside delegates / all calls, 0 to 1: as counted in the program, or at export where a delegate does
    /// not tell what is in it.
    pub coverage: f64,
    /// Width of the input, pixels.
    pub input_width: u32,
    /// Height of the input, pixels.
    pub input_height: u32,
    /// Number of labels.
    pub classes: usize,
    /// Bytes of the program's file, without data files.
    pub program_bytes: u64,
    /// What it takes of memory, computed from its files. [`resident`](nearside_runtime::memory::resident) tells what the
    /// whole process holds.
    pub memory: MemoryNeed,
    /// Threads that kernels use.
    pub threads: usize,
    /// From the verified package to the first finished run.
    pub load: Duration,
}

/// An opened model. Cheap to clone, can be shared between threads; the last clone to go ends its threads.
#[derive(Clone)]
pub struct Model {
    shared: Arc<Shared>,
}

struct Shared {
    info: ModelInfo,
    image_spec: ImageSpec,
    // Dropped before the threads are joined, which ends them.
    links: Option<(ImageQueue, InferenceLinks)>,
    threads: Vec<JoinHandle<()>>,
}

impl Model {
    /// Opens the classifier's package at `path`, checks it, loads a variant and runs it once. Blocks for as long as that takes.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for options out of range; those of [`Package::open`] and [`Package::open_program`];
    /// [`Error::WrongTask`] for a package that is not for classifying;
    /// [`Error::NoSuchVariant`], [`Error::Mismatch`]; [`Error::NoRunnableVariant`] if each of several variants was
    /// refused, or what the runtime reports of the only one, or the one named: among them
    /// [`CoverageTooLow`](nearside_runtime::Error::CoverageTooLow),
    /// [`DelegatesNotAllowed`](nearside_runtime::Error::DelegatesNotAllowed) and
    /// [`OverBudget`](nearside_runtime::Error::OverBudget), before anything large is allocated.
    pub fn open(path: impl AsRef<Path>, options: OpenOptions) -> Result<Self> {
        let demands = options.demands()?;
        let package = Package::open(path)?;
        use_threads(options.threads)?;
        let image_spec = *package.classifier()?.image_spec();
        let (links, info, inference) = inference::start(
            {
                let package = package.clone();
                move || Loaded::open(&package, options.variant.as_deref(), &demands, options.load_mode)
            },
            move |loaded| info(&package, loaded),
        )?;
        let info = info?;
        let (images, image_thread) = ImageQueue::start(&image_spec, links.clone())?;
        let threads = vec![image_thread, inference];
        Ok(Self { shared: Arc::new(Shared { info, image_spec, links: Some((images, links)), threads }) })
    }

    /// What is known of it.
    pub fn info(&self) -> &ModelInfo {
        &self.shared.info
    }

    /// How pixels become its input.
    pub fn image_spec(&self) -> &ImageSpec {
        &self.shared.image_spec
    }

    /// Classifies an image and waits for its `top` best labels, or all if there are fewer.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if `top` is 0, [`Error::Vision`] if the image can't be read, [`Error::Runtime`],
    /// [`Error::NotFinite`].
    pub fn classify(&self, image: Image, top: usize) -> Result<Classification> {
        let (done, wait) = bounded(1);
        let _task = self.submit(image, top, move |result| {
            let _ = done.send(result);
        })?;
        wait.recv().unwrap_or_else(|_| Err(inference::ended()))
    }

    /// As [`Model::classify`], of a decoded photo.
    ///
    /// # Errors
    /// Those of [`Model::classify`].
    pub fn classify_photo(&self, photo: Arc<Photo>, top: usize) -> Result<Classification> {
        self.classify(Image::Photo(photo), top)
    }

    /// As [`Model::classify`], of a frame, which is copied.
    ///
    /// # Errors
    /// Those of [`Model::classify`].
    pub fn classify_frame(&self, frame: &Frame<'_>, top: usize) -> Result<Classification> {
        let mut buffer = FrameBuffer::new();
        buffer.copy_from(frame)?;
        self.classify(Image::Frame(Box::new(buffer)), top)
    }

    /// Classifies an image without waiting. `done` is called once, with the labels or an error, on a thread of the
    /// pipeline: it should only hand them on. Dropping the task cancels.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] if `top` is 0; `done` is not called then.
    pub fn submit(
        &self,
        image: Image,
        top: usize,
        done: impl FnOnce(Result<Classification>) + Send + 'static,
    ) -> Result<Task> {
        check_top(top)?;
        self.links()?.0.submit(image, top, Box::new(done))
    }

    pub(crate) fn inference(&self) -> Result<&InferenceLinks> {
        Ok(&self.links()?.1)
    }

    fn links(&self) -> Result<&(ImageQueue, InferenceLinks)> {
        self.shared.links.as_ref().ok_or(Error::Closed("model"))
    }
}

static DEFAULT_THREADS: Once = Once::new();

/// Sets the number of threads for kernels as [`OpenOptions::threads`] does: for programs that run without a [`Model`].
///
/// # Errors
/// The runtime's, for a number out of range or while methods are loaded.
pub fn use_threads(threads: Option<usize>) -> Result<()> {
    DEFAULT_THREADS.call_once(leave_a_core_to_the_app);
    if let Some(threads) = threads {
        set_thread_count(threads)?;
    }
    Ok(())
}

/// ExecuTorch takes every performance core. Where those are all there are, the app's own threads and the camera's then
/// push kernel threads off their cores, and a run takes as long as the slowest of them.
fn leave_a_core_to_the_app() {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let threads = thread_count().min(cores.saturating_sub(1).max(1));
    // Refused only if methods were loaded without this crate: then the number is their owner's choice.
    if let Err(error) = set_thread_count(threads) {
        tracing::debug!(%error, "the number of threads stays");
    }
}

/// Refuses to give no labels at all.
pub(crate) fn check_top(top: usize) -> Result<()> {
    if top > 0 {
        return Ok(());
    }
    Err(Error::InvalidArgument("0 labels were asked for; ask for at least 1".into()))
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model").field("info", &self.shared.info).finish()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.links = None;
        // The last clone can go on one of these threads, inside a `done`. They wait for one another, so that one can
        // wait for none: they end by themselves.
        let here = std::thread::current().id();
        if self.threads.iter().any(|thread| thread.thread().id() == here) {
            return;
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn info(package: &Package, loaded: &Loaded) -> Result<ModelInfo> {
    let manifest = package.manifest();
    let classifier = package.classifier()?;
    let variant = package.variant(&loaded.variant)?;
    Ok(ModelInfo {
        name: manifest.name.clone(),
        task: manifest.task.kind(),
        licence: manifest.licence.clone(),
        source: manifest.source.clone(),
        variant: variant.name.clone(),
        quantisation: variant.quantisation.clone(),
        delegates: loaded.facts.delegates.clone(),
        operators: loaded.facts.operators.clone(),
        coverage: loaded.facts.coverage.unwrap_or(variant.coverage),
        input_width: classifier.image_spec.width,
        input_height: classifier.image_spec.height,
        classes: classifier.labels.len(),
        program_bytes: variant.program.bytes,
        memory: loaded.facts.memory.clone(),
        threads: thread_count(),
        load: loaded.load,
    })
}
