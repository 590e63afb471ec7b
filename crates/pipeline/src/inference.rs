//! The inference thread: it owns the loaded model, and everything that runs it goes through it, photos before frames.

use crate::camera::Stream;
use crate::classification::Label;
use crate::error::{Error, Result, guard};
use crate::loaded::Loaded;
use crossbeam_channel::{Receiver, Sender, bounded, never, select_biased};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// Single images that may wait; more make the caller wait.
const WAITING_IMAGES: usize = 16;

/// Camera frames that may be announced at once, over all cameras of the model.
const WAITING_FRAMES: usize = 256;

/// A preprocessed image and who waits for its labels.
pub(crate) struct ImageWork {
    pub(crate) tensor: Vec<f32>,
    pub(crate) top: usize,
    pub(crate) done: Sender<ImageAnswer>,
}

/// What became of it.
pub(crate) struct ImageAnswer {
    /// The same tensor, for reuse.
    pub(crate) tensor: Vec<f32>,
    /// The time that the model took.
    pub(crate) result: Result<Duration>,
    pub(crate) labels: Vec<Label>,
}

/// What a camera tells the inference thread.
pub(crate) enum StreamWork {
    /// A frame lies in the stream's link, or is being put there.
    Ready(Arc<Stream>),
    /// No more frames will come.
    End(Arc<Stream>),
}

/// The ways in to the inference thread. When all are dropped, it ends.
#[derive(Clone)]
pub(crate) struct InferenceLinks {
    pub(crate) images: Sender<ImageWork>,
    pub(crate) streams: Sender<StreamWork>,
}

/// Starts the thread for a classifier.
pub(crate) fn start<F: Send + 'static>(
    open: impl FnOnce() -> Result<Loaded> + Send + 'static,
    facts: impl FnOnce(&Loaded) -> F + Send + 'static,
) -> Result<(InferenceLinks, F, JoinHandle<()>)> {
    let (images, image_work) = bounded(WAITING_IMAGES);
    let (streams, stream_work) = bounded(WAITING_FRAMES);
    let serve = move |mut loaded: Loaded| run(&mut loaded, image_work, stream_work);
    let (facts, thread) = start_owner(open, facts, serve)?;
    Ok((InferenceLinks { images, streams }, facts, thread))
}

/// Starts a thread that owns a model: it runs `open`, sends back what `facts` makes of the model, and then does `serve`.
pub(crate) fn start_owner<M, F: Send + 'static>(
    open: impl FnOnce() -> Result<M> + Send + 'static,
    facts: impl FnOnce(&M) -> F + Send + 'static,
    serve: impl FnOnce(M) + Send + 'static,
) -> Result<(F, JoinHandle<()>)> {
    const NAME: &str = "nearside-infer";
    let (opened, wait) = bounded(1);
    let thread = spawn(NAME, move || match guard("loading", open) {
        Ok(model) => {
            let _ = opened.send(Ok(facts(&model)));
            serve(model);
        }
        Err(error) => {
            let _ = opened.send(Err(error));
        }
    })?;
    match wait.recv().unwrap_or_else(|_| Err(ended())) {
        Ok(facts) => Ok((facts, thread)),
        Err(error) => {
            let _ = thread.join();
            Err(error)
        }
    }
}

/// Serves both queues until both are closed. Images come first: someone waits for each.
fn run(loaded: &mut Loaded, mut images: Receiver<ImageWork>, mut streams: Receiver<StreamWork>) {
    let (mut has_images, mut has_streams) = (true, true);
    while has_images || has_streams {
        select_biased! {
            recv(images) -> work => match work {
                Ok(work) => classify_image(loaded, work),
                Err(_) => {
                    images = never();
                    has_images = false;
                }
            },
            recv(streams) -> work => match work {
                Ok(StreamWork::Ready(stream)) => stream.infer(|tensor, top, labels| {
                    guard("inference", || loaded.classify(tensor, top, labels))
                }),
                Ok(StreamWork::End(stream)) => stream.end(),
                Err(_) => {
                    streams = never();
                    has_streams = false;
                }
            },
        }
    }
}

fn classify_image(loaded: &mut Loaded, work: ImageWork) {
    let mut labels = Vec::new();
    let result = guard("inference", || loaded.classify(&work.tensor, work.top, &mut labels));
    // Nobody waits any more if the work was cancelled.
    let _ = work.done.send(ImageAnswer { tensor: work.tensor, result, labels });
}

/// Starts a named thread.
pub(crate) fn spawn(name: &'static str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    std::thread::Builder::new()
        .name(name.into())
        .spawn(work)
        .map_err(|source| Error::Thread { name, source: Arc::new(source) })
}

/// For when the thread at the other end of a channel is gone.
pub(crate) fn ended() -> Error {
    Error::Internal { place: "inference", message: "the inference thread has ended".into() }
}
