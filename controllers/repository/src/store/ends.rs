//! What two texts have in common at their ends.

/// How many bytes are compared at once.
const STRIDE: usize = 64;

/// Returns how many bytes both start with.
pub(crate) fn common_start(a: &[u8], b: &[u8]) -> usize {
    let strides = a.chunks_exact(STRIDE).zip(b.chunks_exact(STRIDE));
    let same = STRIDE * strides.take_while(|(a, b)| a == b).count();
    let rest = a[same..].iter().zip(&b[same..]);
    same + rest.take_while(|(a, b)| a == b).count()
}

/// Returns how many bytes both end with.
pub(crate) fn common_end(a: &[u8], b: &[u8]) -> usize {
    let strides = a.rchunks_exact(STRIDE).zip(b.rchunks_exact(STRIDE));
    let same = STRIDE * strides.take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[..a.len() - same], &b[..b.len() - same]);
    let rest = a.iter().rev().zip(b.iter().rev());
    same + rest.take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_counted_to_the_byte() {
        for length in [0, 1, 63, 64, 65, 300] {
            let long = vec![7; length];
            assert_eq!(common_start(&long, &long), length);
            assert_eq!(common_end(&long, &long), length);
            for at in [0, 1, 63, 64, 65, 200, 299] {
                let mut other = long.clone();
                let Some(byte) = other.get_mut(at) else {
                    continue;
                };
                *byte = 8;
                assert_eq!(common_start(&long, &other), at);
                assert_eq!(common_end(&long, &other), length - at - 1);
                other.insert(at, 9);
                assert_eq!(common_start(&long, &other), at);
                assert_eq!(common_end(&other, &long), length - at - 1);
            }
        }
    }
}
