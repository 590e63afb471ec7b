//! The commands as a user runs them.
#![allow(missing_docs)]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const SIDE: usize = 48;

fn models() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models")
}

fn tiny() -> String {
    models().join("fixtures/tiny-classifier.nearside").display().to_string()
}

fn nearside(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_nearside")).args(args).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn json(args: &[&str]) -> Value {
    let output = nearside(args);
    assert!(output.status.success(), "{args:?}: {}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Runs what must fail with exit code 1, a message with a hint, and no panic.
fn failure(args: &[&str]) -> String {
    let output = nearside(args);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{args:?}: {said}");
    assert!(said.contains("error: ") && said.contains("hint: "), "{args:?}: {said}");
    assert!(!said.contains("panicked"), "{said}");
    said
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.display().to_string()
    }

    fn png(&self, name: &str, colour: [u8; 3]) -> String {
        let image = image::RgbImage::from_pixel(SIDE as u32, SIDE as u32, image::Rgb(colour));
        let path = self.0.path().join(name);
        image.save(&path).unwrap();
        path.display().to_string()
    }
}

/// An I420 frame of one colour, BT.601 limited.
fn i420(yuv: [u8; 3]) -> Vec<u8> {
    let chroma = SIDE * SIDE / 4;
    [vec![yuv[0]; SIDE * SIDE], vec![yuv[1]; chroma], vec![yuv[2]; chroma]].concat()
}

const GREEN_YUV: [u8; 3] = [145, 54, 34];
const RED_YUV: [u8; 3] = [81, 90, 240];

fn best(document: &Value, result: usize) -> &str {
    document["results"][result]["labels"][0]["name"].as_str().unwrap()
}

#[test]
fn run_writes_the_documented_json() {
    let folder = Folder::new();
    let (red, blue) = (folder.png("red.png", [220, 20, 20]), folder.png("blue.png", [20, 20, 220]));
    let document = json(&["run", &tiny(), &red, &blue, "--top", "2", "--json"]);
    assert_eq!(document["model"], "tiny-classifier");
    assert_eq!(document["variant"], "xnnpack-fp32");
    assert_eq!((best(&document, 0), best(&document, 1)), ("red", "blue"));
    let first = &document["results"][0];
    assert_eq!(first["image"], red);
    assert_eq!(first["labels"].as_array().unwrap().len(), 2);
    assert_eq!(first["labels"][0]["index"], 0);
    assert!((0.0..=1.0).contains(&first["labels"][0]["score"].as_f64().unwrap()));
    for step in ["load", "decode", "preprocess", "inference"] {
        assert!(first["timings_ms"][step].as_f64().unwrap() >= 0.0, "{step}");
    }
}

#[test]
fn raw_frames_of_every_format_give_the_same_label() {
    let folder = Folder::new();
    let planar = i420(GREEN_YUV);
    let (luma, chroma) = planar.split_at(SIDE * SIDE);
    let (u, v) = chroma.split_at(SIDE * SIDE / 4);
    let interleaved = |first: &[u8], second: &[u8]| -> Vec<u8> {
        [luma.to_vec(), first.iter().zip(second).flat_map(|(a, b)| [*a, *b]).collect()].concat()
    };
    let padded: Vec<u8> = luma.chunks(SIDE).flat_map(|row| [row, &[0xff; 16]].concat()).collect();
    let padded_chroma: Vec<u8> =
        interleaved(u, v)[SIDE * SIDE..].chunks(SIDE).flat_map(|row| [row, &[0xff; 16]].concat()).collect();
    let mut short = interleaved(u, v);
    short.pop();
    let ten_bits: Vec<u8> =
        interleaved(u, v).iter().flat_map(|&code| (u16::from(code) << 8).to_le_bytes()).collect();
    let rgb = [20u8, 220, 20];
    let rgb565 = ((220_u16 >> 2) << 5).to_le_bytes();
    let tiny = tiny();
    for (format, bytes, more) in [
        ("i420", planar.clone(), &["--chroma-siting", "left"][..]),
        ("yv12", [luma, v, u].concat(), &[]),
        ("nv12", interleaved(u, v), &[]),
        ("nv21", interleaved(v, u), &["--mirror", "--rotate", "90"]),
        ("nv12", [padded, padded_chroma].concat(), &["--row-stride", "64"]),
        ("nv12", short, &[]),
        ("p010", ten_bits, &["--matrix", "bt2020"]),
        ("yuyv", [145u8, 54, 145, 34].repeat(SIDE * SIDE / 2), &[]),
        ("rgba", [rgb[0], rgb[1], rgb[2], 255].repeat(SIDE * SIDE), &[]),
        ("bgra", [rgb[2], rgb[1], rgb[0], 255].repeat(SIDE * SIDE), &[]),
        ("argb", [255, rgb[0], rgb[1], rgb[2]].repeat(SIDE * SIDE), &[]),
        ("rgb", rgb.repeat(SIDE * SIDE), &[]),
        ("bgr", [rgb[2], rgb[1], rgb[0]].repeat(SIDE * SIDE), &[]),
        ("rgb565", rgb565.repeat(SIDE * SIDE), &[]),
    ] {
        let file = folder.write(&format!("frame.{format}"), &bytes);
        let args =
            [&["run", &tiny, &file, "--format", format, "--size", "48x48", "--json"][..], more].concat();
        assert_eq!(best(&json(&args), 0), "green", "{format} {more:?}");
    }
}

#[test]
fn a_grey_frame_has_the_label_of_a_grey_photo() {
    let folder = Folder::new();
    let (tiny, photo) = (tiny(), folder.png("grey.png", [240, 240, 240]));
    let frame = folder.write("frame.gray8", [240; SIDE * SIDE]);
    let photo = json(&["run", &tiny, &photo, "--json"]);
    let frame = json(&["run", &tiny, &frame, "--format", "gray8", "--size", "48x48", "--json"]);
    assert_eq!(best(&frame, 0), best(&photo, 0));
}

#[test]
fn an_unknown_frame_format_is_answered_with_those_that_there_are() {
    let output = nearside(&["run", &tiny(), "frame", "--format", "uyvy", "--size", "48x48"]);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    for name in ["nv12", "p010", "gray8", "rgb565"] {
        assert!(message.contains(name), "{message}");
    }
}

#[test]
fn a_bad_image_does_not_cost_the_good_ones() {
    let folder = Folder::new();
    let (bad, good) =
        (folder.write("bad.jpg", b"\xff\xd8\xff not a jpeg"), folder.png("red.png", [220, 20, 20]));
    let output = nearside(&["run", &tiny(), &bad, &good, "--json"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("bad.jpg"), "{}", stderr(&output));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["results"].as_array().unwrap().len(), 1);
    assert_eq!(best(&document, 0), "red");
}

#[test]
fn camera_accounts_for_every_frame_under_both_policies() {
    let folder = Folder::new();
    let frames: Vec<u8> =
        (0..60).flat_map(|index| i420(if index < 30 { GREEN_YUV } else { RED_YUV })).collect();
    let raw = folder.write("clip.i420", &frames);
    let mut y4m = b"YUV4MPEG2 W48 H48 F30:1 Ip C420jpeg\n".to_vec();
    for frame in frames.chunks(i420(RED_YUV).len()) {
        y4m.extend_from_slice(b"FRAME\n");
        y4m.extend_from_slice(frame);
    }
    let y4m = folder.write("clip.y4m", &y4m);
    let tiny = tiny();
    let count = |document: &Value, key: &str| document[key].as_u64().unwrap();
    for policy in ["latest", "block"] {
        for clip in [&[raw.as_str(), "--format", "i420", "--size", "48x48"][..], &[&y4m]] {
            let args = [&["camera", &tiny, "--fps", "2000", "--policy", policy, "--json"][..], clip].concat();
            let document = json(&args);
            assert_eq!(count(&document, "offered"), 60);
            let kept =
                count(&document, "delivered") + count(&document, "replaced") + count(&document, "failed");
            assert_eq!(kept, 60, "{document}");
            if policy == "block" {
                assert_eq!(count(&document, "delivered"), 60);
            }
            for stage in ["decode", "inference", "end_to_end"] {
                let at = |quantile: &str| document["latency_ms"][stage][quantile].as_f64().unwrap();
                assert!(at("p50") <= at("p95") && at("p95") <= at("p99"), "{document}");
            }
        }
    }
    let table = nearside(&["camera", &tiny, &y4m, "--fps", "1000", "--policy", "block"]);
    let table = String::from_utf8(table.stdout).unwrap();
    assert!(table.contains("frames    0 to   29") && table.contains("green"), "{table}");
    assert!(
        table.contains("60 frames offered, 60 processed, 0 dropped") && table.contains("end to end"),
        "{table}"
    );
}

#[test]
fn a_clip_that_ends_within_a_frame_says_so_and_keeps_the_others() {
    let folder = Folder::new();
    let mut frames = i420(RED_YUV).repeat(3);
    frames.truncate(frames.len() - 200);
    let raw = folder.write("clip.i420", &frames);
    let args =
        ["camera", &tiny(), &raw, "--format", "i420", "--size", "48x48", "--policy", "block", "--json"];
    let output = nearside(&args);
    assert_eq!(output.status.code(), Some(1));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let counts = ["offered", "delivered", "replaced", "failed"].map(|key| document[key].as_u64().unwrap());
    assert!(stderr(&output).contains("clip.i420"));
    assert_eq!(counts, [2, 2, 0, 0], "{}", stderr(&output));
}

#[test]
fn a_y4m_clip_that_is_cut_short_says_so_and_keeps_the_whole_frames() {
    let folder = Folder::new();
    let whole = b"YUV4MPEG2 W2 H2 F30:1\nFRAME\n123456FRAME\n123456";
    for (cut, frames) in [(1, 1), (6, 1), (9, 1), (13, 0)] {
        let clip = folder.write("clip.y4m", &whole[..whole.len() - cut]);
        let output = nearside(&["camera", &tiny(), &clip, "--policy", "block", "--json"]);
        assert_eq!(output.status.code(), Some(1), "{cut}");
        assert!(stderr(&output).contains("cut short"), "{cut}: {}", stderr(&output));
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(document["delivered"], frames, "{cut}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_stderr_that_is_full_changes_neither_result_nor_exit_code() {
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let folder = Folder::new();
    let image = folder.png("red.png", [220, 20, 20]);
    let output = Command::new(env!("CARGO_BIN_EXE_nearside"))
        .args(["run", &tiny(), "no-such.png", &image, "--json"])
        .stderr(full())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(best(&document, 0), "red");
}

#[test]
fn inspect_shows_packages_and_programs() {
    let document = json(&["inspect", &tiny(), "--json"]);
    assert_eq!(document["manifest"]["name"], "tiny-classifier");
    let method = &document["programs"][0]["methods"][0];
    assert_eq!(method["inputs"][0]["shape"], serde_json::json!([1, 3, 32, 32]));
    let delegate = &method["delegates"][0];
    assert_eq!((&delegate["name"], &delegate["available"]), (&"XnnpackBackend".into(), &true.into()));
    assert_eq!(method["problems"], serde_json::json!([]));

    let program = models().join("fixtures/multi.pte").display().to_string();
    let document = json(&["inspect", &program, "--json"]);
    assert_eq!(document["methods"].as_array().unwrap().len(), 2);
    for path in [&program, &tiny()] {
        let output = nearside(&["inspect", path]);
        assert!(output.status.success());
        assert!(String::from_utf8(output.stdout).unwrap().contains("method forward"));
    }
}

#[test]
fn inspect_shows_which_kernels_are_ours() {
    let program = models().join("fixtures/attention.pte").display().to_string();
    let document = json(&["inspect", &program, "--json"]);
    let operators = document["methods"][0]["portable"].as_array().unwrap();
    let own = operators.iter().filter(|operator| operator["own"] == true).collect::<Vec<_>>();
    assert_eq!(
        own,
        [&serde_json::json!({"name": "nearside::attention.out", "calls": 1, "available": true, "own": true})]
    );
    let text = String::from_utf8(nearside(&["inspect", &program]).stdout).unwrap();
    let line = text.lines().find(|line| line.contains("nearside::attention.out")).unwrap();
    assert_eq!(line.split_whitespace().collect::<Vec<_>>(), ["nearside", "nearside::attention.out", "1"]);
}

#[test]
fn a_model_is_held_to_demands() {
    let folder = Folder::new();
    let image = folder.png("red.png", [220, 20, 20]);
    let run = |args: &[&str]| {
        [&["run", &tiny(), &image][..], args].concat().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let met = run(&["--min-coverage", "0.5", "--delegate", "XnnpackBackend", "--memory-budget", "100000000"]);
    let met: Vec<_> = met.iter().map(String::as_str).collect();
    assert!(nearside(&met).status.success());
    for (args, said) in [
        (&["--min-coverage", "1"][..], "portable: "),
        (&["--delegate", "QnnBackend"], "demanded is QnnBackend"),
        (&["--memory-budget", "1000"], "the budget is 1000"),
        (&["--delegate-option", "xnnpack.speed=1"], "speed"),
    ] {
        let args = run(args);
        let error = failure(&args.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(error.contains(said), "{args:?}: {error}");
    }
}

#[test]
fn what_can_not_be_read_fails_with_a_hint() {
    let folder = Folder::new();
    let image = folder.png("red.png", [220, 20, 20]);
    let whole = std::fs::read(models().join("fixtures/mlp-xnnpack.pte")).unwrap();
    for (name, bytes) in
        [("cut.pte", &whole[..whole.len() / 2]), ("text.pte", b"a text file"), ("empty.pte", b"")]
    {
        let file = folder.write(name, bytes);
        assert!(failure(&["inspect", &file]).contains(name));
    }
    failure(&["inspect", "no-such-file.pte"]);
    failure(&["inspect", "no-such.nearside"]);
    failure(&["run", "no-such.nearside", &image]);
    failure(&["run", &image, &image]);
    for (name, bytes) in [("corrupt.jpg", &b"\xff\xd8\xff\xe0 and then nothing"[..]), ("empty.png", b"")] {
        let file = folder.write(name, bytes);
        assert!(failure(&["run", &tiny(), &file]).contains(name));
    }
    let frame = folder.write("short.nv12", [0; 1000]);
    let said = failure(&["run", &tiny(), &frame, "--format", "nv12", "--size", "48x48"]);
    assert!(said.contains("plane Y"), "{said}");
    failure(&["run", &tiny(), &frame, "--format", "nv12", "--size", "0x48"]);
    failure(&["run", &tiny(), &frame, "--format", "nv12", "--size", "4294967295x4294967295"]);
    for clip in ["", "not a clip", "YUV4MPEG2 W99999999999 H2 F30:1\n", "YUV4MPEG2 W4 H4 F30:1 C444\nFRAME\n"]
    {
        let clip = folder.write("clip.y4m", clip);
        failure(&["camera", &tiny(), &clip]);
    }
    failure(&["run", &tiny(), &image, "--variant", "int4"]);
}

#[test]
fn a_picture_of_one_pixel_is_classified() {
    let folder = Folder::new();
    let path = folder.0.path().join("one.png");
    image::RgbImage::from_pixel(1, 1, image::Rgb([20, 220, 20])).save(&path).unwrap();
    let document = json(&["run", &tiny(), path.to_str().unwrap(), "--json"]);
    assert_eq!(best(&document, 0), "green");
}

#[test]
fn wrong_command_lines_end_with_2() {
    let tiny = tiny();
    for args in [
        &[][..],
        &["paint"],
        &["run", &tiny],
        &["run", &tiny, "x.png", "--top", "0"],
        &["run", &tiny, "x.png", "--top", "many"],
        &["run", &tiny, "x.raw", "--format", "nv12"],
        &["run", &tiny, "x.raw", "--format", "nv13", "--size", "4x4"],
        &["run", &tiny, "x.raw", "--format", "nv12", "--size", "4by4"],
        &["run", &tiny, "x.png", "--rotate", "90"],
        &["run", &tiny, "x.raw", "--format", "nv12", "--size", "4x4", "--rotate", "45"],
        &["run", &tiny, "x.png", "--threads", "0"],
        &["run", &tiny, "x.png", "--threads", "257"],
        &["camera", &tiny, "x.y4m", "--fps", "0"],
        &["camera", &tiny, "x.y4m", "--policy", "newest"],
    ] {
        let output = nearside(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn the_same_photo_gives_the_same_scores_however_it_comes() {
    let package = models().join("efficientnet-lite0.nearside").display().to_string();
    let photo = models().join("media/coffee.jpg");
    let decoded = nearside_pipeline::vision::Photo::open(&photo).unwrap();
    let rgb = decoded.rgb().into_owned();
    let rgb = image::RgbImage::from_raw(decoded.width(), decoded.height(), rgb).unwrap();
    let (width, height) = (rgb.width() as usize & !1, rgb.height() as usize & !1);
    let rgb = image::imageops::crop_imm(&rgb, 0, 0, width as u32, height as u32).to_image();
    let folder = Folder::new();
    let png = folder.0.path().join("coffee.png");
    rgb.save(&png).unwrap();
    let size = format!("{width}x{height}");

    let expected = json(&["run", &package, png.to_str().unwrap(), "--top", "1", "--json"]);
    assert!(best(&expected, 0).contains("espresso"), "{expected}");
    let score = |document: &Value| document["results"][0]["labels"][0]["score"].as_f64().unwrap();
    let assert_same = |what: &str, found: Value| {
        assert_eq!(best(&found, 0), best(&expected, 0), "{what}");
        assert!(
            (score(&found) - score(&expected)).abs() <= 0.02,
            "{what}: {} {}",
            score(&found),
            score(&expected)
        );
    };

    let [luma, u, v] = to_yuv420(rgb.as_raw(), width, height);
    let interleave =
        |a: &[u8], b: &[u8]| -> Vec<u8> { a.iter().zip(b).flat_map(|(a, b)| [*a, *b]).collect() };
    let pad = |plane: &[u8], row: usize| -> Vec<u8> {
        plane.chunks(row).flat_map(|row| [row, &[0x5a; 40]].concat()).collect()
    };
    let stride = (width + 40).to_string();
    for (format, bytes, more) in [
        ("i420", [luma.clone(), u.clone(), v.clone()].concat(), &[][..]),
        ("nv12", [luma.clone(), interleave(&u, &v)].concat(), &[]),
        ("nv21", [luma.clone(), interleave(&v, &u)].concat(), &[]),
        ("nv12", [pad(&luma, width), pad(&interleave(&u, &v), width)].concat(), &["--row-stride", &stride]),
    ] {
        let file = folder.write(&format!("coffee.{format}"), &bytes);
        let args = ["run", &package, &file, "--format", format, "--size", &size, "--range", "full", "--json"];
        assert_same(&format!("{format} {more:?}"), json(&[&args[..], more].concat()));
    }
    // Lying on its side, to be turned back.
    let turned = image::imageops::rotate270(&rgb);
    let file = folder.write("turned.rgb", turned.as_raw());
    let size = format!("{height}x{width}");
    assert_same(
        "rotated",
        json(&["run", &package, &file, "--format", "rgb", "--size", &size, "--rotate", "90", "--json"]),
    );
    assert_same("jpeg", json(&["run", &package, path(&photo), "--json"]));
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// BT.601 full range, chroma averaged over 2x2 pixels.
fn to_yuv420(rgb: &[u8], width: usize, height: usize) -> [Vec<u8>; 3] {
    let pixel = |x: usize, y: usize| [0, 1, 2].map(|channel| f64::from(rgb[(y * width + x) * 3 + channel]));
    let luma_of = |[r, g, b]: [f64; 3]| 0.299 * r + 0.587 * g + 0.114 * b;
    let byte = |value: f64| value.round().clamp(0.0, 255.0) as u8;
    let luma = (0..width * height).map(|i| byte(luma_of(pixel(i % width, i / width)))).collect();
    let chroma = |channel: usize, scale: f64| -> Vec<u8> {
        (0..width / 2 * (height / 2))
            .map(|i| {
                let (x, y) = (i % (width / 2) * 2, i / (width / 2) * 2);
                let corners = [pixel(x, y), pixel(x + 1, y), pixel(x, y + 1), pixel(x + 1, y + 1)];
                let sum: f64 = corners.into_iter().map(|pixel| pixel[channel] - luma_of(pixel)).sum();
                byte(sum / 4.0 / scale + 128.0)
            })
            .collect()
    };
    [luma, chroma(2, 1.772), chroma(0, 1.402)]
}

#[test]
fn a_pipe_that_nobody_writes_to_is_refused_everywhere() {
    let folder = Folder::new();
    let pipe = folder.0.path().join("pipe").display().to_string();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let add = models().join("fixtures/add.pte").display().to_string();
    let raw = ["--format", "nv12", "--size", "64x64"];
    let package = tiny();
    for args in [
        &["inspect", &pipe][..],
        &["inspect", &add, "--data", &pipe],
        &["profile", &pipe],
        &["profile", &add, "--data", &pipe],
        &["profile", &add, "--trace", &pipe],
        &["profile", &package, "--image", &pipe],
        &["run", &package, &pipe],
        &[&["run", &package, &pipe][..], &raw].concat(),
        &["camera", &package, &pipe],
        &[&["camera", &package, &pipe][..], &raw].concat(),
    ] {
        failure(args);
    }
}
