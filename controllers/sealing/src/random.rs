//! Randomness as an argument.

/// Where random bytes come from. It must be fit for keys: the operator passes the system's own source.
pub trait RandomSource {
    /// Fills all the bytes.
    fn fill(&mut self, bytes: &mut [u8]);
}

impl<F: FnMut(&mut [u8])> RandomSource for F {
    fn fill(&mut self, bytes: &mut [u8]) {
        self(bytes);
    }
}

/// Draws an array.
pub(crate) fn draw<const N: usize>(source: &mut dyn RandomSource) -> [u8; N] {
    let mut bytes = [0; N];
    source.fill(&mut bytes);
    bytes
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A source that repeats itself from run to run and never within one.
    pub(crate) fn counting() -> impl RandomSource {
        let mut next = 0_u8;
        move |bytes: &mut [u8]| {
            for byte in bytes {
                next = next.wrapping_mul(37).wrapping_add(11);
                *byte = next;
            }
        }
    }

    #[test]
    fn every_draw_asks_the_source() {
        let mut source = counting();
        assert_ne!(draw::<4>(&mut source), draw::<4>(&mut source));
    }
}
