//! What is said on a stream: a length in four bytes, lowest first, then so many bytes, which
//! postcard has written.

use bytes::Bytes;
use quinn::{ReadExactError, RecvStream, SendStream, WriteError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// Bytes of a question at the door, at most.
pub(crate) const QUESTION_MAX: usize = 4 << 10;

/// Why something on a stream is not taken.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ParcelError {
    #[error("message of {bytes} bytes; at most {most} are allowed")]
    Long { bytes: usize, most: usize },
    #[error("stream closed: {0}")]
    Ended(#[from] ReadExactError),
    #[error("cannot write to the stream: {0}")]
    Unwritable(#[from] WriteError),
    #[error("malformed message of {bytes} bytes: {error}")]
    Unreadable { bytes: usize, error: postcard::Error },
}

/// The next bytes of a stream. The length is looked at before there is room made for them.
pub(crate) async fn receive_bytes(
    stream: &mut RecvStream,
    most: usize,
) -> Result<Vec<u8>, ParcelError> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).await?;
    let bytes = u32::from_le_bytes(length) as usize;
    if bytes > most {
        return Err(ParcelError::Long { bytes, most });
    }
    let mut parcel = vec![0; bytes];
    stream.read_exact(&mut parcel).await?;
    Ok(parcel)
}

/// What postcard makes of all of these bytes.
pub(crate) fn open<Message: DeserializeOwned>(bytes: &[u8]) -> Result<Message, ParcelError> {
    let unreadable = |error| ParcelError::Unreadable { bytes: bytes.len(), error };
    match postcard::take_from_bytes(bytes).map_err(unreadable)? {
        (message, []) => Ok(message),
        _ => Err(unreadable(postcard::Error::DeserializeBadEncoding)),
    }
}

/// The next message of a stream.
pub(crate) async fn receive<Message: DeserializeOwned>(
    stream: &mut RecvStream,
    most: usize,
) -> Result<Message, ParcelError> {
    open(&receive_bytes(stream, most).await?)
}

/// Says something.
pub(crate) async fn send<Message: Serialize>(
    stream: &mut SendStream,
    message: &Message,
) -> Result<(), ParcelError> {
    let unwritable = |error| ParcelError::Unreadable { bytes: 0, error };
    let parcel = postcard::to_allocvec(message).map_err(unwritable)?;
    stream.write_all(&(parcel.len() as u32).to_le_bytes()).await?;
    Ok(stream.write_all(&parcel).await?)
}

/// Says [`crate::charter::Answer::Content`] without copying it.
pub(crate) async fn send_content(
    stream: &mut SendStream,
    content: Option<Arc<[u8]>>,
) -> Result<(), ParcelError> {
    let (head, body) = content_parts(content);
    let bytes = head.len() + body.len();
    stream.write_all(&(bytes as u32).to_le_bytes()).await?;
    stream.write_all(&head).await?;
    Ok(stream.write_chunk(body).await?)
}

/// The answer as postcard would write it, in two parts.
fn content_parts(content: Option<Arc<[u8]>>) -> (Vec<u8>, Bytes) {
    /// The place of `Content` among the answers.
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
    use crate::charter::Answer;

    #[test]
    fn contents_are_what_postcard_would_write() {
        for content in [None, Some(vec![]), Some(vec![7; 127]), Some(vec![9; 300_000])] {
            let (mut head, body) = content_parts(content.clone().map(Into::into));
            head.extend(body);
            assert_eq!(postcard::to_allocvec(&Answer::Content(content)).unwrap(), head);
        }
    }
}
