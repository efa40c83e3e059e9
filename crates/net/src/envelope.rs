//! Messages on a QUIC stream: a length in four bytes, little-endian, then the message as postcard
//! encodes it.

use bytes::Bytes;
use quinn::{ReadExactError, RecvStream, SendStream, WriteError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// Bytes of a request, at most.
pub(crate) const QUESTION_MAX: usize = 4 << 10;

/// Why a message is rejected.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EnvelopeError {
    #[error("message of {bytes} bytes; at most {most} are allowed")]
    Long { bytes: usize, most: usize },
    #[error("stream closed: {0}")]
    Ended(#[from] ReadExactError),
    #[error("cannot write to the stream: {0}")]
    Unwritable(#[from] WriteError),
    #[error("malformed message of {bytes} bytes: {error}")]
    Unreadable { bytes: usize, error: postcard::Error },
}

/// Receives a message. The length is checked before memory is allocated.
pub(crate) async fn receive_bytes(
    stream: &mut RecvStream,
    most: usize,
) -> Result<Vec<u8>, EnvelopeError> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).await?;
    let bytes = u32::from_le_bytes(length) as usize;
    if bytes > most {
        return Err(EnvelopeError::Long { bytes, most });
    }
    let mut payload = vec![0; bytes];
    stream.read_exact(&mut payload).await?;
    Ok(payload)
}

/// Decodes a message, which must take all bytes.
pub(crate) fn open<Message: DeserializeOwned>(bytes: &[u8]) -> Result<Message, EnvelopeError> {
    let unreadable = |error| EnvelopeError::Unreadable { bytes: bytes.len(), error };
    match postcard::take_from_bytes(bytes).map_err(unreadable)? {
        (message, []) => Ok(message),
        _ => Err(unreadable(postcard::Error::DeserializeBadEncoding)),
    }
}

/// Receives and decodes a message.
pub(crate) async fn receive<Message: DeserializeOwned>(
    stream: &mut RecvStream,
    most: usize,
) -> Result<Message, EnvelopeError> {
    open(&receive_bytes(stream, most).await?)
}

/// Encodes and sends a message.
pub(crate) async fn send<Message: Serialize>(
    stream: &mut SendStream,
    message: &Message,
) -> Result<(), EnvelopeError> {
    let unwritable = |error| EnvelopeError::Unreadable { bytes: 0, error };
    let payload = postcard::to_allocvec(message).map_err(unwritable)?;
    stream.write_all(&(payload.len() as u32).to_le_bytes()).await?;
    Ok(stream.write_all(&payload).await?)
}

/// Sends [`crate::manifest::EdgeResponse::Content`] without copying it.
pub(crate) async fn send_content(
    stream: &mut SendStream,
    content: Option<Arc<[u8]>>,
) -> Result<(), EnvelopeError> {
    let (head, body) = content_parts(content);
    let bytes = head.len() + body.len();
    stream.write_all(&(bytes as u32).to_le_bytes()).await?;
    stream.write_all(&head).await?;
    Ok(stream.write_chunk(body).await?)
}

/// The response as postcard would encode it, in two parts.
fn content_parts(content: Option<Arc<[u8]>>) -> (Vec<u8>, Bytes) {
    /// The variant index of `Content`.
    const CONTENT: u8 = 4;
    let Some(content) = content else { return (vec![CONTENT, 0], Bytes::new()) };
    let mut head = vec![CONTENT, 1];
    let mut length = content.len();
    while length >= 0x80 {
        head.push(length as u8 | 0x80);
        length >>= 7;
    }
    head.push(length as u8);
    (head, Bytes::from_owner(content))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::EdgeResponse;

    #[test]
    fn contents_are_what_postcard_would_write() {
        for content in [None, Some(vec![]), Some(vec![7; 127]), Some(vec![9; 300_000])] {
            let (mut head, body) = content_parts(content.clone().map(Into::into));
            head.extend(body);
            assert_eq!(postcard::to_allocvec(&EdgeResponse::Content(content)).unwrap(), head);
        }
    }
}
