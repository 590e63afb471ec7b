//! Single images: the thread that decodes and preprocesses them, and the handle that callers hold.

use crate::classification::Label;
use crate::error::{Error, Result, guard};
use crate::inference::{ImageWork, InferenceLinks, ended, spawn};
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use nearside_vision::{Frame, FrameBuffer, ImageSpec, Photo, Preprocessor};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// An image to classify.
#[derive(Debug)]
pub enum Image {
    /// A photo that is decoded already.
    Photo(Arc<Photo>),
    /// The bytes of a JPEG, PNG, WebP, GIF or BMP file.
    Encoded(Vec<u8>),
    /// The path of such a file.
    Path(PathBuf),
    /// A copied camera frame.
    Frame(Box<FrameBuffer>),
}

/// The labels of one image.
#[derive(Debug, Clone, PartialEq)]
pub struct Classification {
    /// The best labels, best first.
    pub labels: Vec<Label>,
    /// How long each step took.
    pub timings: ImageTimings,
}

/// Where the time of one image went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ImageTimings {
    /// Waiting for the thread to be free.
    pub queue: Duration,
    /// From file bytes to pixels; zero for pixels.
    pub decode: Duration,
    /// From pixels to the input tensor.
    pub preprocess: Duration,
    /// In the model.
    pub inference: Duration,
}

/// Who gets the result. Runs on a thread of the pipeline: it should only hand the result on.
pub(crate) type Done = Box<dyn FnOnce(Result<Classification>) + Send>;

/// Work that was submitted. Dropping it cancels what has not been done yet.
#[derive(Debug)]
pub struct Task {
    cancelled: Arc<AtomicBool>,
}

impl Task {
    /// Cancels the work: what runs is finished, what waits is not begun, and the result is [`Error::Cancelled`].
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.cancel();
    }
}

struct Job {
    image: Image,
    top: usize,
    submitted: Instant,
    cancelled: Arc<AtomicBool>,
    done: Done,
}

/// The way in to the thread. When it is dropped, the thread ends; what waits is answered with [`Error::Closed`].
pub(crate) struct ImageQueue {
    jobs: Sender<Job>,
    closed: Arc<AtomicBool>,
}

impl Drop for ImageQueue {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Relaxed);
    }
}

impl ImageQueue {
    pub(crate) fn start(spec: &ImageSpec, inference: InferenceLinks) -> Result<(Self, JoinHandle<()>)> {
        let preprocessor = Preprocessor::new(*spec)?;
        // Unbounded, as submitting must not block: who submits holds the images already.
        let (jobs, work) = unbounded();
        let closed = Arc::new(AtomicBool::new(false));
        let thread = spawn("nearside-image", {
            let closed = Arc::clone(&closed);
            move || run(&work, &closed, preprocessor, &inference)
        })?;
        Ok((Self { jobs, closed }, thread))
    }

    pub(crate) fn submit(&self, image: Image, top: usize, done: Done) -> Result<Task> {
        let cancelled = Arc::new(AtomicBool::new(false));
        let job = Job { image, top, submitted: Instant::now(), cancelled: Arc::clone(&cancelled), done };
        self.jobs.send(job).map_err(|_| ended())?;
        Ok(Task { cancelled })
    }
}

/// An image after decoding.
enum Pixels {
    Photo(Arc<Photo>),
    Frame(Box<FrameBuffer>),
}

impl Pixels {
    fn from(image: Image) -> Result<Self> {
        Ok(match image {
            Image::Photo(photo) => Self::Photo(photo),
            Image::Encoded(bytes) => Self::Photo(Arc::new(Photo::decode(&bytes)?)),
            Image::Path(path) => Self::Photo(Arc::new(Photo::open(path)?)),
            Image::Frame(buffer) => Self::Frame(buffer),
        })
    }

    fn frame(&self) -> Frame<'_> {
        match self {
            Self::Photo(photo) => photo.frame(),
            Self::Frame(buffer) => buffer.frame(),
        }
    }
}

fn run(
    jobs: &Receiver<Job>,
    closed: &AtomicBool,
    mut preprocessor: Preprocessor,
    inference: &InferenceLinks,
) {
    let mut tensor = vec![0.0; preprocessor.output_len()];
    for job in jobs {
        let Job { image, top, submitted, cancelled, done } = job;
        if closed.load(Ordering::Relaxed) {
            done(Err(Error::Closed("model")));
            continue;
        }
        let queue = submitted.elapsed();
        let result = guard("image preparation", || {
            classify(image, top, &cancelled, &mut preprocessor, &mut tensor, inference)
        });
        done(result.map(|mut classification| {
            classification.timings.queue = queue;
            classification
        }));
    }
}

fn classify(
    image: Image,
    top: usize,
    cancelled: &AtomicBool,
    preprocessor: &mut Preprocessor,
    tensor: &mut Vec<f32>,
    inference: &InferenceLinks,
) -> Result<Classification> {
    let go_on = || if cancelled.load(Ordering::Relaxed) { Err(Error::Cancelled) } else { Ok(()) };
    let mut timings = ImageTimings::default();
    go_on()?;
    let started = Instant::now();
    let pixels = Pixels::from(image)?;
    timings.decode = started.elapsed();
    go_on()?;
    // A panic in an earlier image may have lost the buffer.
    tensor.resize(preprocessor.output_len(), 0.0);
    let started = Instant::now();
    preprocessor.run(&pixels.frame(), &mut *tensor)?;
    timings.preprocess = started.elapsed();
    drop(pixels);
    go_on()?;
    let (done, wait) = bounded(1);
    let work = ImageWork { tensor: std::mem::take(tensor), top, done };
    inference.images.send(work).map_err(|_| ended())?;
    let answer = wait.recv().map_err(|_| ended())?;
    *tensor = answer.tensor;
    timings.inference = answer.result?;
    go_on()?;
    Ok(Classification { labels: answer.labels, timings })
}
