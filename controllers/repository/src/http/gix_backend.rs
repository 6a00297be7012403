//! Our conversation behind the trait through which gix's fetch speaks HTTP.

use std::any::Any;
use std::cell::RefCell;
use std::io::{self, BufRead, Cursor, Read, Write};
use std::rc::Rc;

use gix_transport::client::blocking_io::http::{GetResponse, Http, PostBodyDataKind, PostResponse};

use super::body::AnswerReader;
use super::exchange::Exchange;
use crate::conversation::{Conversation, Failure};

/// Lets gix speak through an [`Exchange`]. Addresses and headers that gix proposes are not looked at: the
/// exchange knows its server, and only it may decide where the credential goes.
pub(crate) struct GixHttp {
    exchange: Rc<RefCell<Exchange>>,
    failure: Failure,
}

impl GixHttp {
    pub(crate) fn new(exchange: Exchange) -> Self {
        Self {
            failure: exchange.failure.clone(),
            exchange: Rc::new(RefCell::new(exchange)),
        }
    }

    fn request(&self, answer: Option<AnswerReader>) -> Rc<RefCell<Request>> {
        Rc::new(RefCell::new(Request {
            exchange: Rc::clone(&self.exchange),
            body: Vec::new(),
            answer,
        }))
    }
}

/// A request that is sent when its answer is first looked at, because only then is its body complete.
pub(crate) struct Request {
    exchange: Rc<RefCell<Exchange>>,
    body: Vec<u8>,
    answer: Option<AnswerReader>,
}

impl Request {
    fn answer(&mut self) -> io::Result<&mut AnswerReader> {
        if self.answer.is_none() {
            let mut exchange = self.exchange.borrow_mut();
            let limit = (exchange.max_fetch_bytes(), "the fetched objects");
            let body = std::mem::take(&mut self.body);
            let answer = exchange
                .call(body, limit)
                .map_err(|failed| exchange.failure.keep(failed.error))?;
            self.answer = Some(answer);
        }
        self.answer
            .as_mut()
            .ok_or_else(|| io::Error::other("the answer is gone"))
    }
}

/// Collects what gix writes.
pub(crate) struct RequestBody(Rc<RefCell<Request>>);

/// Hands gix what arrives. The bytes are copied out, because gix holds the request and its answer at once.
pub(crate) struct AnswerBody {
    request: Rc<RefCell<Request>>,
    copied: Vec<u8>,
    used: usize,
}

impl AnswerBody {
    fn new(request: Rc<RefCell<Request>>) -> Self {
        Self {
            request,
            copied: Vec::new(),
            used: 0,
        }
    }
}

impl Write for RequestBody {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().body.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for AnswerBody {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let count = available.len().min(buffer.len());
        buffer[..count].copy_from_slice(&available[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for AnswerBody {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.used == self.copied.len() {
            let mut request = self.request.borrow_mut();
            let answer = request.answer()?;
            self.copied.clear();
            self.used = 0;
            self.copied.extend_from_slice(answer.fill_buf()?);
            answer.consume(self.copied.len());
        }
        Ok(&self.copied[self.used..])
    }

    fn consume(&mut self, count: usize) {
        self.used += count;
    }
}

impl Http for GixHttp {
    type Headers = Cursor<Vec<u8>>;
    type ResponseBody = AnswerBody;
    type PostBody = RequestBody;

    fn get(
        &mut self,
        _url: &str,
        _base_url: &str,
        _headers: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> gix::Result<GetResponse<Self::Headers, Self::ResponseBody>> {
        let reader = self
            .exchange
            .borrow_mut()
            .advertise()
            .map_err(|error| gix::Error::from_error(self.failure.keep(error)))?;
        Ok(GetResponse {
            headers: content_type("advertisement"),
            body: AnswerBody::new(self.request(Some(reader))),
        })
    }

    fn post(
        &mut self,
        _url: &str,
        _base_url: &str,
        _headers: impl IntoIterator<Item = impl AsRef<str>>,
        _body: PostBodyDataKind,
    ) -> gix::Result<PostResponse<Self::Headers, Self::ResponseBody, Self::PostBody>> {
        let request = self.request(None);
        Ok(PostResponse {
            headers: content_type("result"),
            post_body: RequestBody(Rc::clone(&request)),
            body: AnswerBody::new(request),
        })
    }

    fn configure(&mut self, _config: &dyn Any) -> gix::Result {
        Ok(())
    }
}

/// Repeats the header that the exchange has already checked, for gix checks it again.
fn content_type(kind: &str) -> Cursor<Vec<u8>> {
    Cursor::new(format!("Content-Type: application/x-git-upload-pack-{kind}\n").into_bytes())
}
