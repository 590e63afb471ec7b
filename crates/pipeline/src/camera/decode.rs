//! The decode thread: from copied pixels to the input tensor.

use super::slot::Slot;
use super::stream::Stream;
use crate::error::{Result, guard};
use crate::inference::{StreamWork, spawn};
use crossbeam_channel::{Receiver, Sender, select_biased};
use nearside_vision::Preprocessor;
use std::convert::Infallible;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

/// Starts the thread, which ends after `captures_end` is disconnected and what was captured has been handed on.
pub(crate) fn start(
    stream: Arc<Stream>,
    captures_end: Receiver<Infallible>,
    mut preprocessor: Preprocessor,
    inference: Sender<StreamWork>,
) -> Result<JoinHandle<()>> {
    spawn("nearside-decode", move || {
        while let Some(slot) = next(&stream, &captures_end) {
            decode(&stream, slot, &mut preprocessor, &inference);
        }
        // Only if the inference thread is gone, which then can't say it.
        if inference.send(StreamWork::End(Arc::clone(&stream))).is_err() {
            stream.end();
        }
    })
}

fn next(stream: &Stream, captures_end: &Receiver<Infallible>) -> Option<Box<Slot>> {
    stream.take_turn();
    select_biased! {
        recv(stream.captured()) -> slot => slot.ok(),
        // The last frame may have come between the two looks.
        recv(captures_end) -> _ => stream.captured().try_recv().ok(),
    }
}

fn decode(
    stream: &Arc<Stream>,
    mut slot: Box<Slot>,
    preprocessor: &mut Preprocessor,
    inference: &Sender<StreamWork>,
) {
    slot.decode_started = Instant::now();
    let Slot { buffer, tensor, .. } = &mut *slot;
    match guard("decode", || Ok(preprocessor.run(&buffer.frame(), tensor)?)) {
        Ok(()) => {
            slot.decoded = Instant::now();
            if stream.decode(slot) && inference.send(StreamWork::Ready(Arc::clone(stream))).is_err() {
                stream.pass_turn();
            }
        }
        Err(error) => {
            stream.pass_turn();
            stream.fail(slot, error);
        }
    }
}
