//! Packet lines: four hex digits of length, then that many bytes.

use std::io::{self, Read};

/// The longest content of one line.
pub(crate) const LONGEST_CONTENT: usize = 65_516;

/// One packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Packet {
    /// A line with content.
    Data(Vec<u8>),
    /// `0000`: the end of a section.
    Flush,
    /// `0001`: the end of a part of a section.
    Delimiter,
    /// `0002`: the end of a stateless answer.
    ResponseEnd,
}

/// A stream that is not made of packets.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PacketError {
    /// The stream could not be read.
    #[error("the stream broke")]
    Read(#[source] io::Error),
    /// The stream ends inside a packet.
    #[error("the stream ends inside a packet line")]
    Truncated,
    /// The length is not one that a packet may have.
    #[error("a packet line has no valid length")]
    BadLength,
    /// The server ended the conversation with a reason.
    #[error("the server reports an error")]
    ServerError(Vec<u8>),
}

/// Reads packets one by one and never more than one at a time into memory.
#[derive(Debug)]
pub(crate) struct PacketReader<R> {
    inner: R,
}

impl<R: Read> PacketReader<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self { inner }
    }

    /// Returns the next packet, or `None` when the stream ends between two.
    pub(crate) fn next(&mut self) -> Result<Option<Packet>, PacketError> {
        let mut digits = [0; 4];
        match read_full(&mut self.inner, &mut digits).map_err(PacketError::Read)? {
            0 => return Ok(None),
            4 => {}
            _ => return Err(PacketError::Truncated),
        }
        let content = match length(digits).ok_or(PacketError::BadLength)? {
            0 => return Ok(Some(Packet::Flush)),
            1 => return Ok(Some(Packet::Delimiter)),
            2 => return Ok(Some(Packet::ResponseEnd)),
            3 => return Err(PacketError::BadLength),
            whole => whole - 4,
        };
        if content > LONGEST_CONTENT {
            return Err(PacketError::BadLength);
        }
        let mut data = vec![0; content];
        if read_full(&mut self.inner, &mut data).map_err(PacketError::Read)? != content {
            return Err(PacketError::Truncated);
        }
        match data.strip_prefix(b"ERR ") {
            Some(reason) => Err(PacketError::ServerError(reason.to_vec())),
            None => Ok(Some(Packet::Data(data))),
        }
    }
}

/// Appends one line. The content must be at most [`LONGEST_CONTENT`] bytes, which the callers' lines
/// (an id, a branch name, a few words) always are.
pub(crate) fn write_data(out: &mut Vec<u8>, content: &[u8]) {
    debug_assert!(content.len() <= LONGEST_CONTENT, "a packet line overflows");
    out.extend_from_slice(format!("{:04x}", content.len() + 4).as_bytes());
    out.extend_from_slice(content);
}

/// Appends the end of a section.
pub(crate) fn write_flush(out: &mut Vec<u8>) {
    out.extend_from_slice(b"0000");
}

/// Appends the end of a part of a section.
pub(crate) fn write_delimiter(out: &mut Vec<u8>) {
    out.extend_from_slice(b"0001");
}

/// Returns a line without the line feed that servers may or may not send.
pub(crate) fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}

fn length(digits: [u8; 4]) -> Option<usize> {
    digits.iter().try_fold(0, |length, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(length * 16 + usize::try_from(digit).ok()?)
    })
}

/// Reads until the buffer is full or the stream ends; returns how much it got.
fn read_full(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match reader.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(bytes: &[u8]) -> Result<Vec<Packet>, PacketError> {
        let mut reader = PacketReader::new(bytes);
        let mut packets = Vec::new();
        while let Some(packet) = reader.next()? {
            packets.push(packet);
        }
        Ok(packets)
    }

    #[test]
    fn packets_are_read_as_they_were_written() {
        let mut bytes = Vec::new();
        write_data(&mut bytes, b"hello\n");
        write_data(&mut bytes, b"");
        write_delimiter(&mut bytes);
        write_data(&mut bytes, &vec![b'x'; LONGEST_CONTENT]);
        write_flush(&mut bytes);
        bytes.extend_from_slice(b"0002");
        assert_eq!(
            read_all(&bytes).unwrap(),
            [
                Packet::Data(b"hello\n".to_vec()),
                Packet::Data(Vec::new()),
                Packet::Delimiter,
                Packet::Data(vec![b'x'; LONGEST_CONTENT]),
                Packet::Flush,
                Packet::ResponseEnd,
            ]
        );
    }

    #[test]
    fn what_is_no_packet_is_an_error_and_not_a_wait() {
        for truncated in ["0", "000", "000a", "000ahell", "fff0"] {
            assert!(
                matches!(read_all(truncated.as_bytes()), Err(PacketError::Truncated)),
                "{truncated}"
            );
        }
        for bad in ["0003", "fff1", "ffff", "zzzz", "<!do", "-001", "+00a"] {
            assert!(
                matches!(read_all(bad.as_bytes()), Err(PacketError::BadLength)),
                "{bad}"
            );
        }
        assert!(matches!(
            read_all(b"000cERR nope"),
            Err(PacketError::ServerError(reason)) if reason == b"nope"
        ));
    }
}
