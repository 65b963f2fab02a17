//! Windows, as ONNX attributes define them.

use crate::Fault;
use hushwire_compute::Steps;
use hushwire_fault::code;

/// The attributes of an operator that has windows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    pub(crate) size: [usize; 2],
    pub(crate) strides: [usize; 2],
    /// Above, left, below, right.
    pub(crate) pads: [usize; 4],
    pub(crate) dilations: [usize; 2],
    /// `NOTSET`, `VALID`, `SAME_UPPER` or `SAME_LOWER`.
    pub(crate) auto: String,
    pub(crate) ceil: bool,
}

/// LOCAL: the largest extent of a window.
const MOST: usize = 1 << 16;

impl Said {
    /// The strides and padding over a plane, and the number of windows along its rows and columns.
    pub(crate) fn over(&self, place: &str, plane: [usize; 2]) -> Result<(Steps, [usize; 2]), Fault> {
        let refuse =
            |cause: String| Fault::new(code::MODEL_FILE, place, cause, "check how the model was exported");
        let numbers = self.size.iter().chain(&self.strides).chain(&self.dilations);
        if numbers.clone().any(|n| !(1..=MOST).contains(n)) || self.pads.iter().any(|n| *n > MOST) {
            let Said { size, strides, pads, dilations, .. } = self;
            return Err(refuse(format!(
                "windows of {size:?} with strides {strides:?}, pads {pads:?} and dilations {dilations:?} make no sense"
            )));
        }
        let (mut pads, mut count) = (self.pads, [0; 2]);
        for k in 0..2 {
            let (n, stride) = (plane[k], self.strides[k]);
            let size = (self.size[k] - 1) * self.dilations[k] + 1;
            match &self.auto[..] {
                "" | "NOTSET" => {}
                "VALID" => (pads[k], pads[k + 2]) = (0, 0),
                "SAME_UPPER" | "SAME_LOWER" => {
                    let all = ((n.div_ceil(stride).max(1) - 1) * stride + size).saturating_sub(n);
                    let (less, more) = (all / 2, all - all / 2);
                    (pads[k], pads[k + 2]) =
                        if self.auto == "SAME_UPPER" { (less, more) } else { (more, less) };
                }
                other => return Err(refuse(format!("its auto_pad is {other:?}"))),
            }
            let room = (n + pads[k] + pads[k + 2]).checked_sub(size);
            let room =
                room.ok_or_else(|| refuse(format!("its windows of {size} do not fit {n} elements")))?;
            count[k] = room / stride + 1;
            if self.ceil && room % stride != 0 && count[k] * stride < n + pads[k] {
                // One more window, which begins within the plane or before it.
                let end = count[k] * stride + size;
                count[k] += 1;
                pads[k + 2] = pads[k + 2].max(end - n - pads[k]);
            }
        }
        let small = |n: usize| n as u32;
        Ok((Steps { strides: self.strides.map(small), padding: pads.map(small) }, count))
    }

    /// The number of elements along a side of `n` that are in no window if there is one window for
    /// each `stride`. `k` is 0 for rows and 1 for columns.
    pub(crate) fn uncovered(&self, k: usize, n: usize) -> usize {
        let size = (self.size[k] - 1) * self.dilations[k] + 1;
        n.saturating_sub((n.div_ceil(self.strides[k]).max(1) - 1) * self.strides[k] + size)
    }
}

/// The rows or columns of a window within the plane.
pub(crate) fn span(
    window: usize,
    size: usize,
    stride: usize,
    before: usize,
    n: usize,
) -> std::ops::Range<usize> {
    let first = window * stride;
    first.saturating_sub(before).min(n)..(first + size).saturating_sub(before).min(n)
}
