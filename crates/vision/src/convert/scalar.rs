//! The readable truth that every other implementation must equal.

use crate::colour::YuvToRgb;

pub(super) fn yuv_to_rgb([ys, us, vs]: [&mut [f32]; 3], coefficients: &YuvToRgb) {
    let YuvToRgb { luma_scale, luma_bias, v_to_red, u_to_green, v_to_green, u_to_blue } = *coefficients;
    let [luma_scale, luma_bias] = [luma_scale, luma_bias].map(|value| value as f32);
    let [v_to_red, u_to_green, v_to_green, u_to_blue] =
        [v_to_red, u_to_green, v_to_green, u_to_blue].map(|value| value as f32);
    for ((y, u), v) in ys.iter_mut().zip(us).zip(vs) {
        let luma = luma_scale * *y + luma_bias;
        let (cb, cr) = (*u - 128.0, *v - 128.0);
        *y = luma + v_to_red * cr;
        *u = luma + u_to_green * cb + v_to_green * cr;
        *v = luma + u_to_blue * cb;
    }
}

pub(super) fn normalise(line: &[f32], scale: f32, bias: f32, out: &mut [f32], first: usize, step: usize) {
    let normalised = line.iter().map(|value| value.clamp(0.0, 255.0) * scale + bias);
    if step == 1 {
        out[first..].iter_mut().zip(normalised).for_each(|(out, value)| *out = value);
    } else {
        out[first..].iter_mut().step_by(step).zip(normalised).for_each(|(out, value)| *out = value);
    }
}
