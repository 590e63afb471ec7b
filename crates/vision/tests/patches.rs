//! Patches against what transformers' Gemma 4 processor makes of the same pictures. See `reference/patches.py`.

mod common;

use common::{noise_rgb, read, wave_rgb};
use half::f16;
use nearside_vision::{
    Channels, Element, Error, Frame, ImageSpec, PatchBudget, Preprocessor, Quantization, Rotation,
};

/// One row of `patches.tsv`.
struct Case {
    source: String,
    size: (u32, u32),
    budget: PatchBudget,
    columns: u32,
    rows: u32,
    tokens: u32,
    /// CRC-32 of pixels and positions.
    sums: Option<[u32; 2]>,
}

fn cases() -> Vec<Case> {
    let text = String::from_utf8(read("patches.tsv")).unwrap();
    text.lines().map(parse).collect()
}

fn parse(row: &str) -> Case {
    let cells: Vec<&str> = row.split('\t').collect();
    let &[source, size, side, multiple, most_tokens, columns, rows, tokens, pixels, positions] = &cells[..]
    else {
        panic!("{row}");
    };
    let number = |text: &str| text.parse::<u32>().unwrap();
    let sum = |text: &str| u32::from_str_radix(text, 16).ok();
    let multiple = number(multiple);
    Case {
        source: source.to_owned(),
        size: size.split_once('x').map(|(width, height)| (number(width), number(height))).unwrap(),
        budget: PatchBudget { side: number(side), multiple, most: number(most_tokens) * multiple * multiple },
        columns: number(columns),
        rows: number(rows),
        tokens: number(tokens),
        sums: sum(pixels).zip(sum(positions)).map(|(pixels, positions)| [pixels, positions]),
    }
}

/// The picture of a case.
fn picture(case: &Case) -> Vec<u8> {
    let (width, height) = case.size;
    if case.source == "wave" { wave_rgb(width, height) } else { noise_rgb(width, height) }
}

#[test]
fn every_picture_has_the_columns_rows_and_tokens_that_transformers_gives_it() {
    let cases = cases();
    assert_eq!(cases.len(), 180);
    for Case { size: (width, height), budget, columns, rows, tokens, .. } in cases {
        let grid = budget.grid(width, height).unwrap();
        let found = (grid.columns(), grid.rows(), grid.tokens());
        assert_eq!(found, (columns, rows, tokens), "{width}x{height}, {budget:?}");
        assert_eq!(grid.patches(), columns * rows);
        assert!(grid.patches() <= budget.most);
        assert_eq!((grid.width(), grid.height()), (columns * budget.side, rows * budget.side));
        assert_eq!((columns % budget.multiple, rows % budget.multiple), (0, 0));
    }
}

#[test]
fn pixels_and_positions_equal_those_of_transformers_bit_for_bit() {
    let cases: Vec<Case> = cases().into_iter().filter(|case| case.sums.is_some()).collect();
    assert_eq!(cases.len(), 25);
    for case in cases {
        let (width, height) = case.size;
        let rgb = picture(&case);
        let frame = Frame::rgb(&rgb, width, height, None).unwrap();
        let grid = case.budget.grid(width, height).unwrap();
        let mut pixels = vec![f32::NAN; case.budget.tensor_len()];
        let mut positions = vec![7_i64; case.budget.positions_len()];
        let mut preprocessor = Preprocessor::new(grid.spec()).unwrap();
        preprocessor.run(&frame, grid.pad(&grid.spec(), &mut pixels).unwrap()).unwrap();
        grid.write_positions(&mut positions).unwrap();

        let bytes: Vec<u8> = pixels.iter().map(|value| (value * 255.0).round() as u8).collect();
        for (value, &byte) in pixels.iter().zip(&bytes) {
            assert!((value - f32::from(byte) / 255.0).abs() < 1e-6, "{value} is no {byte}");
        }
        let positions: Vec<u8> = positions.into_iter().flat_map(i64::to_le_bytes).collect();
        let sums = [crc32fast::hash(&bytes), crc32fast::hash(&positions)];
        assert_eq!(Some(sums), case.sums, "{} of {width}x{height}", case.source);
    }
}

#[test]
fn a_frame_that_is_turned_and_cropped_has_the_patches_of_its_upright_picture() {
    let rgb = noise_rgb(90, 60);
    let whole = Frame::rgb(&rgb, 90, 60, None).unwrap();
    let turned = Frame { rotation: Rotation::R90, crop: Some(common::rect(5, 7, 80, 40)), ..whole };
    assert_eq!(turned.upright_size(), (40, 80));
    let upright: Vec<u8> = (0..80_usize)
        .flat_map(|y| (0..40_usize).map(move |x| ((7 + 39 - x) * 90 + 5 + y) * 3))
        .flat_map(|at| rgb[at..at + 3].to_vec())
        .collect();
    let upright = Frame::rgb(&upright, 40, 80, None).unwrap();
    let budget = PatchBudget { side: 4, multiple: 2, most: 280 };
    let grid = budget.grid(40, 80).unwrap();
    assert_eq!((grid.columns(), grid.rows()), (10, 22));
    assert_eq!(common::run(grid.spec(), &turned), common::run(grid.spec(), &upright));
}

#[test]
fn positions_come_in_the_number_type_that_is_asked_for() {
    let grid = PatchBudget { side: 2, multiple: 1, most: 7 }.grid(30, 20).unwrap();
    assert_eq!((grid.columns(), grid.rows()), (3, 2));
    let expected = [0, 0, 1, 0, 2, 0, 0, 1, 1, 1, 2, 1, -1, -1];
    let (mut long, mut short, mut float) = ([9_i64; 14], [9_i32; 14], [9_f32; 14]);
    grid.write_positions(&mut long).unwrap();
    grid.write_positions(&mut short).unwrap();
    grid.write_positions(&mut float).unwrap();
    assert_eq!(long, expected.map(i64::from));
    assert_eq!(short, expected);
    assert_eq!(float, expected.map(|at| at as f32));
}

#[test]
fn padding_is_what_stands_for_0_in_every_element() {
    let rgb = [255; 3];
    let frame = Frame::rgb(&rgb, 1, 1, None).unwrap();
    // One patch, and two of padding.
    let budget = PatchBudget { side: 2, multiple: 1, most: 3 };
    let grid = budget.grid(1, 1).unwrap();
    assert_eq!(grid.patches(), 1);
    let quantised = |scale, zero_point| Quantization { scale, zero_point };
    let run = |spec: ImageSpec| Preprocessor::new(spec).unwrap();

    let mut floats = [f32::NAN; 36];
    let spec = grid.spec();
    run(spec).run(&frame, grid.pad(&spec, &mut floats[..]).unwrap()).unwrap();
    assert_eq!(floats, std::array::from_fn(|at| if at < 12 { 1.0 } else { 0.0 }));

    let mut halves = [f16::NAN; 36];
    let spec = ImageSpec { element: Element::F16, ..grid.spec() };
    run(spec).run(&frame, grid.pad(&spec, &mut halves[..]).unwrap()).unwrap();
    assert_eq!(halves, std::array::from_fn(|at| f16::from_f32(if at < 12 { 1.0 } else { 0.0 })));

    let mut unsigned = [7; 48];
    let element = Element::U8(quantised(0.01, 50));
    let spec = ImageSpec { element, channels: Channels::Rgba, ..grid.spec() };
    run(spec).run(&frame, grid.pad(&spec, &mut unsigned[..]).unwrap()).unwrap();
    assert_eq!(unsigned, std::array::from_fn(|at| if at < 16 { 150_u8 } else { 50 }));

    let mut signed = [7; 36];
    let spec = ImageSpec { element: Element::I8(quantised(0.01, -3)), ..grid.spec() };
    run(spec).run(&frame, grid.pad(&spec, &mut signed[..]).unwrap()).unwrap();
    assert_eq!(signed, std::array::from_fn(|at| if at < 12 { 97_i8 } else { -3 }));
}

#[test]
fn buffers_of_the_wrong_length_or_type_are_refused_and_left_alone() {
    let budget = PatchBudget { side: 2, multiple: 1, most: 3 };
    let grid = budget.grid(1, 1).unwrap();
    assert_eq!((budget.tensor_len(), budget.positions_len()), (36, 6));
    for len in [0, 12, 35, 37, 48] {
        let mut pixels = vec![7.0; len];
        let error = grid.pad(&grid.spec(), &mut pixels).unwrap_err();
        assert!(
            matches!(error, Error::WrongPatchesLength { what: "pixels", needs: 36, patches: 3, .. }),
            "{error}"
        );
        assert!(error.hint().contains("tensor_len"), "{error}");
        assert!(pixels.iter().all(|&value| value == 7.0));
    }
    for len in [0, 2, 5, 7] {
        let mut positions = vec![7_i64; len];
        let error = grid.write_positions(&mut positions).unwrap_err();
        assert!(matches!(error, Error::WrongPatchesLength { what: "positions", needs: 6, .. }), "{error}");
        assert!(positions.iter().all(|&value| value == 7));
    }
    let mut bytes = [7_u8; 36];
    assert!(matches!(grid.pad(&grid.spec(), &mut bytes[..]), Err(Error::WrongOutputType { .. })));
    assert_eq!(bytes, [7; 36]);
}

#[test]
fn budgets_and_pictures_that_give_no_patches_are_refused() {
    let good = PatchBudget::gemma4(280);
    assert_eq!(good, PatchBudget { side: 16, multiple: 3, most: 2520 });
    for (bad, named) in [
        (PatchBudget { side: 0, ..good }, "patch side"),
        (PatchBudget { side: 16_385, multiple: 1, ..good }, "patch side"),
        (PatchBudget { multiple: 0, ..good }, "multiple"),
        (PatchBudget { multiple: u32::MAX, ..good }, "multiple"),
        (PatchBudget { most: 8, ..good }, "most patches"),
        (PatchBudget::gemma4(0), "most patches"),
    ] {
        let error = bad.grid(10, 10).unwrap_err();
        assert!(matches!(error, Error::InvalidSpec { field, .. } if field == named), "{bad:?}: {error}");
    }
    for (width, height) in [(0, 1), (1, 0), (0, 0)] {
        assert!(matches!(good.grid(width, height), Err(Error::EmptyFrame { .. })));
    }
    // The room is 1120 tokens long, 53760 pixels.
    let error = PatchBudget::gemma4(1120).grid(100_000, 10).unwrap_err();
    assert!(matches!(error, Error::PictureTooThin { longer: 53_760, limit: 16_384, .. }), "{error}");
    assert!(PatchBudget::gemma4(280).grid(u32::MAX, 1).is_ok());
}

#[test]
fn a_budget_of_one_block_has_room_for_it_in_any_picture() {
    for side in [1, 3, 7, 16] {
        for multiple in [1, 2, 3, 5] {
            let budget = PatchBudget { side, multiple, most: multiple * multiple };
            for size in [1, 3, 7, 49, 1000, 4097, u32::MAX] {
                for other in [1, 10, size - 1, size] {
                    let grid = budget.grid(size, other.max(1)).unwrap();
                    assert_eq!((grid.columns(), grid.rows()), (multiple, multiple));
                }
            }
        }
    }
}

#[test]
fn no_picture_has_more_patches_than_there_is_room_for() {
    for most in 1..200 {
        for multiple in 1..4 {
            let budget = PatchBudget { side: 5, multiple, most: most.max(multiple * multiple) };
            for (width, height) in
                [(1, 1), (2, 3), (16, 9), (4096, 4095), (u32::MAX, u32::MAX), (1, u32::MAX)]
            {
                let grid = budget.grid(width, height).unwrap();
                assert!((1..=budget.most).contains(&grid.patches()), "{width}x{height}, {budget:?}");
            }
        }
    }
}
