//! From a frame to a tensor.

use crate::emit::Emitter;
use crate::frame::{Sample, Source, Sources, rgb565};
use crate::kernels::InstructionSet;
use crate::worker::{Task, Worker};
use crate::{Error, Frame, ImageSpec, PixelFormat, Result, TensorMut};

/// Turns frames into the tensor that an [`ImageSpec`] describes.
///
/// It holds the tap tables and the work space of the last geometry (size, crop, rotation, mirror, format), so that
/// frames of the same geometry cost no allocation and no set-up. Results do not depend on what was run before.
#[derive(Debug)]
pub struct Preprocessor {
    spec: ImageSpec,
    instruction_set: InstructionSet,
    emitter: Emitter,
    workers: [Worker; 2],
    /// Pixels of formats that are unpacked first.
    unpacked: Vec<u8>,
}

/// Work that may be done on any thread, once.
pub type Work<'a> = dyn FnMut() + Send + 'a;

impl Preprocessor {
    /// A preprocessor for `spec`.
    ///
    /// # Errors
    /// [`Error::InvalidSpec`] if the specification cannot be followed.
    pub fn new(spec: ImageSpec) -> Result<Self> {
        spec.validate()?;
        Ok(Self {
            spec,
            instruction_set: InstructionSet::best(),
            emitter: Emitter::new(&spec),
            workers: Default::default(),
            unpacked: Vec::new(),
        })
    }

    /// The specification that it follows.
    pub fn spec(&self) -> &ImageSpec {
        &self.spec
    }

    /// Elements of the tensor: channels x height x width.
    pub fn output_len(&self) -> usize {
        self.spec.len()
    }

    /// The vector instructions that it uses.
    pub fn instruction_set(&self) -> InstructionSet {
        self.instruction_set
    }

    /// Uses other vector instructions, for tests and measurements: results are the same. Where the processor does not
    /// have them, [`InstructionSet::Scalar`] is used.
    pub fn set_instruction_set(&mut self, set: InstructionSet) {
        self.instruction_set = if set.is_available() { set } else { InstructionSet::Scalar };
    }

    /// Writes the tensor of `frame` to `out`, all of it: `[1, channels, height, width]`, `[1, height, width,
    /// channels]` or `[1, patches, side * side * channels]` of the type that the specification names.
    ///
    /// # Errors
    /// [`Error::WrongOutputType`], [`Error::WrongOutputLength`] if `out` does not hold [`Self::output_len`] elements,
    /// or any error of [`Frame::validate`]. `out` is then untouched.
    pub fn run<'o>(&mut self, frame: &Frame<'_>, out: impl Into<TensorMut<'o>>) -> Result<()> {
        let height = self.spec.height;
        self.with_task(frame, out.into(), |task, [worker, _], out| {
            let [_, mut all] = task.emitter.bands(out, 0);
            worker.run(task, 0..height, &mut all);
        })
    }

    /// As [`Self::run`], with the same result, in two halves that `join` may run on two threads: worth it for large
    /// frames and large tensors. This crate starts no thread; `join` calls both halves, in any order or at the same
    /// time, and returns when both are done, as `rayon::join` does.
    ///
    /// ```
    /// # use nearside_vision::{Frame, ImageSpec, Preprocessor};
    /// # let nv12 = vec![128; 640 * 480 * 3 / 2];
    /// # let frame = Frame::nv12(&nv12, 640, 480, None)?;
    /// # let mut preprocessor = Preprocessor::new(ImageSpec::new(224, 224))?;
    /// # let mut tensor = vec![0.0; preprocessor.output_len()];
    /// preprocessor.run_halves(&frame, &mut tensor, |top, bottom| {
    ///     std::thread::scope(|scope| {
    ///         scope.spawn(top);
    ///         bottom();
    ///     });
    /// })?;
    /// # Ok::<(), nearside_vision::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_halves<'o>(
        &mut self,
        frame: &Frame<'_>,
        out: impl Into<TensorMut<'o>>,
        join: impl FnOnce(&mut Work<'_>, &mut Work<'_>),
    ) -> Result<()> {
        let height = self.spec.height;
        self.with_task(frame, out.into(), |task, workers, out| {
            let middle = task.emitter.middle() as u32;
            let [mut top, mut bottom] = task.emitter.bands(out, middle as usize);
            let [first, second] = workers;
            join(&mut || first.run(task, 0..middle, &mut top), &mut || {
                second.run(task, middle..height, &mut bottom)
            });
        })
    }

    /// Checks everything, then calls `run`.
    fn with_task<'o>(
        &mut self,
        frame: &Frame<'_>,
        out: TensorMut<'o>,
        run: impl FnOnce(&Task<'_>, &mut [Worker; 2], TensorMut<'o>),
    ) -> Result<()> {
        out.expect(self.spec.element)?;
        if out.len() != self.output_len() {
            let ImageSpec { width, height, .. } = self.spec;
            return Err(Error::WrongOutputLength { has: out.len(), needs: self.output_len(), width, height });
        }
        frame.validate()?;
        let sources = Sources::of(frame);
        let unpacked;
        let sources = if frame.format == PixelFormat::Rgb565 {
            unpack_rgb565(&sources.as_slice()[0], frame, &mut self.unpacked);
            unpacked = [Source::rgb(&self.unpacked, frame.width as usize)];
            &unpacked[..]
        } else {
            sources.as_slice()
        };
        let (spec, emitter, instruction_set) = (&self.spec, &self.emitter, self.instruction_set);
        run(&Task { spec, emitter, instruction_set, frame, sources }, &mut self.workers, out);
        Ok(())
    }
}

/// The whole frame as RGB bytes.
fn unpack_rgb565(source: &Source<'_>, frame: &Frame<'_>, out: &mut Vec<u8>) {
    debug_assert_eq!(source.sample, Sample::Rgb565);
    let (width, height) = (frame.width as usize, frame.height as usize);
    out.resize(3 * width * height, 0);
    for (row, out) in out.chunks_exact_mut(3 * width).enumerate() {
        let bytes = source.rows(row, 1, 0..width, &[]).get(0);
        for (pixel, out) in bytes.chunks(source.pixel_stride).zip(out.as_chunks_mut().0) {
            *out = rgb565([pixel[0], pixel[1]]);
        }
    }
}
