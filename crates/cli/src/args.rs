//! The command line.

use crate::delegate_options;
use crate::error::{Error, Result};
use crate::text_args::{ChatArgs, GenerateArgs};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Parser, Subcommand, ValueEnum};
use nearside_pipeline::runtime::LoadOptions;
use nearside_pipeline::vision::{BufferLayout, ChromaSiting, Frame, Matrix, Range, Rotation};
use nearside_pipeline::{OpenOptions, Policy};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// See, read and write on the device: inspect and run Nearside model packages.
#[derive(Parser)]
#[command(name = "nearside", version)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Show what a model package, a .pte program or a .ptd data file holds
    Inspect(InspectArgs),
    /// Classify photos, or single raw frames
    Run(RunArgs),
    /// Run methods of a program on tensors from safetensors files, or from a stream
    Call(CallArgs),
    /// Show where the time of a run goes
    Profile(ProfileArgs),
    /// Play a clip through the camera pipeline
    Camera(CameraArgs),
    /// Continue a text, or answer a question
    Generate(GenerateArgs),
    /// Talk with a language model
    Chat(ChatArgs),
    /// Measure how fast a language model runs here
    Bench(BenchArgs),
}

#[derive(clap::Args)]
pub(crate) struct BenchArgs {
    /// A model package (NAME.nearside) of the task `generate`
    pub(crate) package: PathBuf,
    /// Tokens of the prompt whose prefill is measured; 0 for none
    #[arg(long, value_name = "N", default_value_t = 512)]
    pub(crate) prefill: usize,
    /// Tokens that are generated after each of the contexts
    #[arg(long, value_name = "N", default_value_t = 48)]
    pub(crate) decode: usize,
    /// Tokens that come before those that are generated, with commas
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "100")]
    pub(crate) at: Vec<usize>,
    /// The package's variant; the first that can run here by default
    #[arg(long)]
    pub(crate) variant: Option<String>,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
    /// Write one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
pub(crate) struct InspectArgs {
    /// A model package (NAME.nearside), a program (FILE.pte) or a data file (FILE.ptd)
    pub(crate) path: PathBuf,
    /// A data file with weights of the program; can be given more than once
    #[arg(long, value_name = "FILE.ptd")]
    pub(crate) data: Vec<PathBuf>,
    /// Write one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Photos (JPEG, PNG, WebP, GIF, BMP), or raw frames with --format and --size
    #[arg(required = true, value_name = "IMAGE")]
    pub(crate) images: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) frame: FrameArgs,
}

#[derive(clap::Args)]
pub(crate) struct CallArgs {
    /// A model package (NAME.nearside) or a program (FILE.pte)
    pub(crate) path: PathBuf,
    /// Inputs, a file a call, in order: tensors named 0, 1, … ; without a file, one call without inputs
    #[arg(value_name = "INPUTS.safetensors", conflicts_with = "stream")]
    pub(crate) inputs: Vec<PathBuf>,
    /// A data file with weights of the program; can be given more than once
    #[arg(long, value_name = "FILE.ptd")]
    pub(crate) data: Vec<PathBuf>,
    /// The package's variant; the first that can run here by default
    #[arg(long)]
    pub(crate) variant: Option<String>,
    /// The method, for inputs that do not name one; the variant's own by default, `forward` for a program
    #[arg(long)]
    pub(crate) method: Option<String>,
    /// Methods that share their state, if they were exported so, such as prefill,decode
    #[arg(long, value_name = "METHOD,METHOD", value_delimiter = ',')]
    pub(crate) share: Vec<String>,
    /// A folder for the outputs: 0.safetensors for the first call, and so on
    #[arg(long, value_name = "FOLDER", conflicts_with = "stream")]
    pub(crate) out: Option<PathBuf>,
    /// Read calls from stdin and answer each on stdout, as safetensors
    #[arg(long, conflicts_with = "json")]
    pub(crate) stream: bool,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
    /// Write one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(clap::Args)]
pub(crate) struct ProfileArgs {
    /// A model package (NAME.nearside) or a program (FILE.pte)
    pub(crate) path: PathBuf,
    /// A data file with weights of the program; can be given more than once
    #[arg(long, value_name = "FILE.ptd")]
    pub(crate) data: Vec<PathBuf>,
    /// The package's variant; the first that can run here by default
    #[arg(long)]
    pub(crate) variant: Option<String>,
    /// The method; the variant's own by default, `forward` for a program
    #[arg(long)]
    pub(crate) method: Option<String>,
    /// Runs that are measured, 1 to 10000: the events of all are kept
    #[arg(long, default_value = "20", value_name = "N", value_parser = runs)]
    pub(crate) runs: NonZeroUsize,
    /// Runs before those, 0 to 10000
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub(crate) warmup: u32,
    /// A photo to run a package on; fixed pseudo-random numbers by default
    #[arg(long)]
    pub(crate) image: Option<PathBuf>,
    /// Threads for the model, 1 to 256; by default one a performance core, but one core at least is left free
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) threads: Option<u16>,
    /// Write one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// An option of a delegate, such as xnnpack.workspace_sharing_mode=per-model; can be given more than once
    #[arg(long, value_name = "DELEGATE.OPTION=VALUE")]
    pub(crate) delegate_option: Vec<String>,
    /// Write a trace for chrome://tracing or Perfetto
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
}

#[derive(clap::Args)]
pub(crate) struct CameraArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// A .y4m file, or raw frames one after another with --format and --size
    pub(crate) clip: PathBuf,
    /// Frames a second; the clip's own by default, 30 if it has none
    #[arg(long, value_parser = frame_rate)]
    pub(crate) fps: Option<f64>,
    /// What happens to frames that come too fast
    #[arg(long, value_enum, default_value_t = PolicyArg::Latest)]
    pub(crate) policy: PolicyArg,
    #[command(flatten)]
    pub(crate) frame: FrameArgs,
}

#[derive(clap::Args)]
pub(crate) struct ModelArgs {
    /// A model package (NAME.nearside)
    pub(crate) package: PathBuf,
    /// Labels for each image
    #[arg(long, default_value_t = 5, value_parser = at_least_one)]
    pub(crate) top: usize,
    /// The package's variant; the first that can run here by default
    #[arg(long)]
    variant: Option<String>,
    #[command(flatten)]
    load: LoadArgs,
    /// Write one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

impl ModelArgs {
    /// Call it while the process has one thread.
    pub(crate) fn options(&self) -> Result<OpenOptions> {
        self.load.open_options(self.variant.as_deref())
    }
}

/// How a model is loaded, and what is demanded of it.
#[derive(clap::Args)]
pub(crate) struct LoadArgs {
    /// Threads for the model, 1 to 256; by default one a performance core, but one core at least is left free
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// The least share of operator calls that must run in delegates, 0 to 1
    #[arg(long, value_name = "SHARE")]
    min_coverage: Option<f64>,
    /// A delegate that the model may use, by its id; can be given more than once
    #[arg(long, value_name = "ID")]
    delegate: Vec<String>,
    /// The most memory that the model may take
    #[arg(long, value_name = "BYTES")]
    memory_budget: Option<u64>,
    /// An option of a delegate; can be given more than once
    #[arg(long, value_name = "DELEGATE.OPTION=VALUE")]
    delegate_option: Vec<String>,
}

impl LoadArgs {
    /// Call it while the process has one thread.
    pub(crate) fn options(&self) -> Result<LoadOptions> {
        Ok(LoadOptions {
            min_coverage: self.min_coverage,
            delegates: (!self.delegate.is_empty()).then(|| self.delegate.clone()),
            memory_budget_bytes: self.memory_budget,
            delegate_options: delegate_options::read(&self.delegate_option)?,
            ..LoadOptions::default()
        })
    }

    /// Call it while the process has one thread.
    pub(crate) fn open_options(&self, variant: Option<&str>) -> Result<OpenOptions> {
        let LoadOptions { min_coverage, delegates, memory_budget_bytes, delegate_options, .. } =
            self.options()?;
        Ok(OpenOptions {
            variant: variant.map(str::to_owned),
            threads: self.threads(),
            min_coverage,
            delegates,
            memory_budget_bytes,
            delegate_options,
            ..OpenOptions::default()
        })
    }

    pub(crate) fn threads(&self) -> Option<usize> {
        self.threads.map(usize::from)
    }
}

/// How raw frames are laid out and how they are to be seen.
#[derive(clap::Args)]
pub(crate) struct FrameArgs {
    /// Raw frames in this format
    #[arg(long, value_parser = layout(), requires = "size")]
    format: Option<BufferLayout>,
    /// Width and height of raw frames in pixels
    #[arg(long, value_name = "WxH", value_parser = size, requires = "format")]
    size: Option<(u32, u32)>,
    /// Bytes from one row of the first plane to the next
    #[arg(long, value_name = "N", requires = "format")]
    row_stride: Option<usize>,
    /// Bytes from one sample to the next, in the chroma planes if there are any, else in the packed plane
    #[arg(long, value_name = "N", requires = "format")]
    pixel_stride: Option<usize>,
    /// Degrees clockwise that make the picture upright
    #[arg(long, value_enum, default_value_t = RotateArg::R0)]
    rotate: RotateArg,
    /// Mirror the upright picture, as front cameras do
    #[arg(long)]
    mirror: bool,
    /// The YUV matrix
    #[arg(long, value_enum, default_value_t = MatrixArg::Bt601)]
    matrix: MatrixArg,
    /// The YUV range; a .y4m file's own by default, else limited
    #[arg(long, value_enum)]
    range: Option<RangeArg>,
    /// Where the halved YUV columns sit; as a .y4m file says by default, else center
    #[arg(long, value_enum)]
    chroma_siting: Option<SitingArg>,
}

/// The layout of raw frames.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RawLayout {
    layout: BufferLayout,
    size: (u32, u32),
    row_stride: Option<usize>,
    pixel_stride: Option<usize>,
}

impl RawLayout {
    pub(crate) fn frame_bytes(&self) -> usize {
        self.layout.frame_bytes(self.size.0, self.size.1, self.row_stride, self.pixel_stride)
    }

    pub(crate) fn frame<'a>(&self, bytes: &'a [u8]) -> nearside_pipeline::Result<Frame<'a>> {
        Ok(self.layout.frame(bytes, self.size.0, self.size.1, self.row_stride, self.pixel_stride)?)
    }
}

impl FrameArgs {
    /// The layout of raw frames, if raw frames are meant.
    pub(crate) fn raw(&self) -> Option<RawLayout> {
        let (layout, size) = (self.format?, self.size?);
        Some(RawLayout { layout, size, row_stride: self.row_stride, pixel_stride: self.pixel_stride })
    }

    /// `frame` as it is to be seen. Its own range and siting stay unless others were given.
    pub(crate) fn apply<'a>(&self, frame: Frame<'a>) -> Frame<'a> {
        Frame {
            rotation: match self.rotate {
                RotateArg::R0 => Rotation::R0,
                RotateArg::R90 => Rotation::R90,
                RotateArg::R180 => Rotation::R180,
                RotateArg::R270 => Rotation::R270,
            },
            mirror: self.mirror,
            matrix: match self.matrix {
                MatrixArg::Bt601 => Matrix::Bt601,
                MatrixArg::Bt709 => Matrix::Bt709,
                MatrixArg::Bt2020 => Matrix::Bt2020,
            },
            range: match self.range {
                None => frame.range,
                Some(RangeArg::Limited) => Range::Limited,
                Some(RangeArg::Full) => Range::Full,
            },
            chroma_siting: match self.chroma_siting {
                None => frame.chroma_siting,
                Some(SitingArg::Center) => ChromaSiting::Center,
                Some(SitingArg::Left) => ChromaSiting::Left,
            },
            ..frame
        }
    }

    /// Photos say by themselves how they are to be seen: refuses flags that would be ignored.
    pub(crate) fn require_none_for_photos(&self) -> Result<()> {
        let changed = matches!(self.rotate, RotateArg::R0)
            && !self.mirror
            && matches!(self.matrix, MatrixArg::Bt601)
            && self.range.is_none()
            && self.chroma_siting.is_none();
        if changed {
            return Ok(());
        }
        Err(Error::Usage(
            "--rotate, --mirror, --matrix, --range and --chroma-siting are for raw frames: give --format and --size \
             too"
                .into(),
        ))
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum RotateArg {
    #[value(name = "0")]
    R0,
    #[value(name = "90")]
    R90,
    #[value(name = "180")]
    R180,
    #[value(name = "270")]
    R270,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum MatrixArg {
    Bt601,
    Bt709,
    Bt2020,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum RangeArg {
    Limited,
    Full,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum SitingArg {
    Center,
    Left,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum PolicyArg {
    /// A newer frame replaces one that waits
    Latest,
    /// Wait for room: every frame is classified
    Block,
}

impl From<PolicyArg> for Policy {
    fn from(arg: PolicyArg) -> Self {
        match arg {
            PolicyArg::Latest => Self::KeepOnlyLatest,
            PolicyArg::Block => Self::BlockProducer,
        }
    }
}

fn layout() -> impl TypedValueParser<Value = BufferLayout> {
    PossibleValuesParser::new(BufferLayout::ALL.map(BufferLayout::name))
        .try_map(|name| name.parse::<BufferLayout>())
}

fn at_least_one(text: &str) -> std::result::Result<usize, String> {
    text.parse().ok().filter(|&number| number > 0).ok_or_else(|| "give a whole number of at least 1".into())
}

fn runs(text: &str) -> std::result::Result<NonZeroUsize, String> {
    let number: Option<NonZeroUsize> = text.parse().ok();
    number.filter(|runs| runs.get() <= 10_000).ok_or_else(|| "give a whole number, 1 to 10000".into())
}

/// Slower would be no clip, faster nothing that a clock can pace.
pub(crate) const FRAME_RATES: std::ops::RangeInclusive<f64> = 0.001..=1e6;

fn frame_rate(text: &str) -> std::result::Result<f64, String> {
    let rate: Option<f64> = text.parse().ok();
    rate.filter(|rate| FRAME_RATES.contains(rate))
        .ok_or_else(|| "give frames a second, 0.001 to 1000000".into())
}

fn size(text: &str) -> std::result::Result<(u32, u32), String> {
    text.split_once(['x', 'X'])
        .and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)))
        .ok_or_else(|| "give width and height in pixels, such as 640x480".into())
}
