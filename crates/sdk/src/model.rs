//! Opened models.

use std::sync::{Arc, PoisonError, RwLock};

use nearside_pipeline as pipeline;
use nearside_pipeline::runtime::delegate::DelegateOptions;
use tokio::sync::oneshot;

use crate::camera::{Camera, CameraConfig};
use crate::{Cancellation, Classification, ModelInfo, NearsideError, Photo, Result, background};

/// How a model is opened.
#[derive(Clone, Debug, Default, uniffi::Record)]
pub struct OpenOptions {
    /// The variant to load; the first that can run here and meets the demands if unset.
    pub variant: Option<String>,
    /// Threads for kernels, for the whole process: can only change while no model is open. If unset, one a
    /// performance core, but one core at least is left to the app.
    pub threads: Option<i32>,
    /// The least share of operator calls that must run in delegates, 0 to 1. A program whose delegates do not tell what
    /// is in them meets no demand above 0, unless nothing is left on portable kernels.
    pub min_coverage: Option<f64>,
    /// Ids of the delegates that the model may use, such as `XnnpackBackend`. It must use one of them, and no other.
    pub delegates: Option<Vec<String>>,
    /// The most memory that this model may take, in bytes: the total of its [`MemoryInfo`](crate::MemoryInfo), whatever
    /// else the process holds.
    pub memory_budget_bytes: Option<i64>,
    /// Options of delegates; those of delegates that the model does not use are ignored.
    pub delegate_options: Vec<DelegateOption>,
}

/// An option of a delegate, such as `xnnpack`, `workspace_sharing_mode`, `per-model`. The delegates' page of the
/// documentation lists them.
#[derive(Clone, Debug, uniffi::Record)]
pub struct DelegateOption {
    /// The delegate's id or short name.
    pub delegate: String,
    /// The option's name.
    pub option: String,
    /// Its value, as text.
    pub value: String,
}

/// An opened model package with its inference thread.
#[derive(Debug, uniffi::Object)]
pub struct Model {
    info: ModelInfo,
    /// Emptied by closing.
    inner: RwLock<Option<pipeline::Model>>,
    /// Ends what waits when the model is closed.
    closed: Cancellation,
}

/// Opens the package at `path`, checks it, loads a variant and runs it once, on a background thread.
///
/// # Errors
/// [`NearsideError::InvalidModel`] if the package is not there, damaged or no package;
/// [`NearsideError::Incompatible`] or [`NearsideError::BackendUnavailable`] if it can't run in this build, or not in
/// delegates as far as was demanded; [`NearsideError::OutOfMemory`] if it does not fit, or not into the budget;
/// [`NearsideError::InvalidInput`] for options out of range and unknown variants; [`NearsideError::Cancelled`].
#[uniffi::export]
pub async fn open_model(
    path: String,
    options: OpenOptions,
    cancellation: Option<Arc<Cancellation>>,
) -> Result<Arc<Model>> {
    let opened = background::run(move || {
        let model = pipeline::Model::open(path, options.try_into()?)?;
        Ok(Arc::new(Model {
            info: model.info().into(),
            inner: RwLock::new(Some(model)),
            closed: Cancellation::new(),
        }))
    });
    Cancellation::or(cancellation.as_deref(), opened).await
}

#[uniffi::export]
impl Model {
    /// What is known of it. Works after closing too.
    #[must_use]
    pub fn info(&self) -> ModelInfo {
        self.info.clone()
    }

    /// Gives a photo's `top` best labels, or all if there are fewer.
    ///
    /// # Errors
    /// [`NearsideError::InvalidInput`] if `top` is not positive; [`NearsideError::Closed`] if the model or the
    /// photo is closed, or the model is meanwhile; [`NearsideError::Cancelled`]; [`NearsideError::Internal`] if the model fails.
    pub async fn classify(
        &self,
        photo: Arc<Photo>,
        top: i32,
        cancellation: Option<Arc<Cancellation>>,
    ) -> Result<Classification> {
        let classified = async {
            tokio::select! {
                biased;
                () = Cancellation::of(Some(&self.closed)) => Err(NearsideError::closed("model")),
                done = self.submit(&photo, top) => done,
            }
        };
        Cancellation::or(cancellation.as_deref(), classified).await
    }

    /// Opens a camera pipeline. It keeps the model's threads and memory until it is closed itself.
    ///
    /// # Errors
    /// [`NearsideError::Closed`]; [`NearsideError::InvalidInput`] if `config.top` is not positive.
    pub fn open_camera(&self, config: CameraConfig) -> Result<Arc<Camera>> {
        Camera::open(&self.inner()?, config).map(Arc::new)
    }

    /// Takes no more work, ends what waits with [`NearsideError::Closed`], and waits for the threads to end, at most for
    /// the run that is under way. Closing again changes nothing. Open cameras go on until they are closed.
    pub fn shut_down(&self) {
        self.closed.cancel();
        let model = self.inner.write().unwrap_or_else(PoisonError::into_inner).take();
        // Outside the lock: it waits for the threads.
        drop(model);
    }
}

impl Model {
    async fn submit(&self, photo: &Photo, top: i32) -> Result<Classification> {
        let top = positive_top(top)?;
        let (sender, done) = oneshot::channel();
        let image = pipeline::Image::Photo(photo.pixels()?);
        // Dropped with this future, which cancels what has not begun.
        let _task = self.inner()?.submit(image, top, move |result| {
            // Nobody waits any more if it was cancelled.
            let _ = sender.send(result);
        })?;
        match done.await {
            Ok(result) => Ok(result?.into()),
            Err(_) => Err(NearsideError::closed("model")),
        }
    }

    fn inner(&self) -> Result<pipeline::Model> {
        let inner = self.inner.read().unwrap_or_else(PoisonError::into_inner);
        inner.clone().ok_or_else(|| NearsideError::closed("model"))
    }
}

/// How many labels are asked for.
pub(crate) fn positive_top(top: i32) -> Result<usize> {
    usize::try_from(top).ok().filter(|&top| top > 0).ok_or_else(|| NearsideError::InvalidInput {
        detail: format!("{top} labels were asked for"),
        hint: "ask for at least 1".into(),
    })
}

impl TryFrom<OpenOptions> for pipeline::OpenOptions {
    type Error = NearsideError;

    fn try_from(options: OpenOptions) -> Result<Self> {
        let threads = options.threads.map(|threads| {
            usize::try_from(threads).map_err(|_| NearsideError::InvalidInput {
                detail: format!("{threads} threads were asked for"),
                hint: "leave it unset, or give at least 1".into(),
            })
        });
        let budget = options.memory_budget_bytes.map(|bytes| {
            u64::try_from(bytes).map_err(|_| NearsideError::InvalidInput {
                detail: format!("a memory budget of {bytes} bytes was given"),
                hint: "leave it unset, or give more than 0".into(),
            })
        });
        Ok(Self {
            variant: options.variant,
            threads: threads.transpose()?,
            min_coverage: options.min_coverage,
            delegates: options.delegates,
            memory_budget_bytes: budget.transpose()?,
            delegate_options: delegate_options(&options.delegate_options)?,
            ..Self::default()
        })
    }
}

fn delegate_options(options: &[DelegateOption]) -> Result<DelegateOptions> {
    let mut all = DelegateOptions::new();
    for one in options {
        let read = DelegateOptions::parse(&one.delegate, &[(&one.option, &one.value)]);
        all = all.with(read.map_err(pipeline::Error::from)?);
    }
    Ok(all)
}
