//! What the programs share: queues of their own names, and the calls they make most.
use std::collections::HashMap;
use std::time::{SystemTime, UNIX_EPOCH};

use aws_sdk_sqs::primitives::Blob;
use aws_sdk_sqs::types::{Message, MessageAttributeValue, MessageSystemAttributeName, QueueAttributeName};
use aws_sdk_sqs::Client;

use crate::checks::{check_equal, must};

pub type Attributes = HashMap<String, MessageAttributeValue>;

pub struct Queues {
    pub sqs: Client,
    prefix: String,
}

impl Queues {
    pub fn new(sqs: Client) -> Self {
        let now = must(SystemTime::now().duration_since(UNIX_EPOCH));
        Self {
            sqs,
            prefix: format!("aws-sdk-rust-{:x}-{}", now.as_nanos(), std::process::id()),
        }
    }

    pub fn name(&self, name: &str) -> String {
        format!("{}-{name}", self.prefix)
    }

    pub async fn create(&self, name: &str, attributes: &[(&str, &str)]) -> String {
        let call = self.sqs.create_queue().queue_name(self.name(name));
        let answer = must(call.set_attributes(Some(settings(attributes))).send().await);
        answer.queue_url.unwrap_or_default()
    }

    pub async fn remove(&self, url: &str) {
        must(self.sqs.delete_queue().queue_url(url).send().await);
    }

    pub async fn attribute(&self, url: &str, name: &str) -> Option<String> {
        let all = self
            .sqs
            .get_queue_attributes()
            .queue_url(url)
            .attribute_names(QueueAttributeName::All);
        must(all.send().await)
            .attributes?
            .remove(&QueueAttributeName::from(name))
    }

    /// Visible/in flight/delayed.
    pub async fn counts(&self, url: &str) -> String {
        let mut counts = vec![];
        for suffix in ["", "NotVisible", "Delayed"] {
            let name = format!("ApproximateNumberOfMessages{suffix}");
            counts.push(self.attribute(url, &name).await.unwrap_or_default());
        }
        counts.join("/")
    }

    pub async fn send(&self, url: &str, body: &str) -> String {
        let answer = must(self.sqs.send_message().queue_url(url).message_body(body).send().await);
        answer.message_id.unwrap_or_default()
    }

    pub async fn receive(&self, url: &str, limit: i32, wait: i32) -> Vec<Message> {
        receive(&self.sqs, url, limit, wait).await
    }

    pub async fn receive_one(&self, what: &str, url: &str) -> Message {
        let mut messages = self.receive(url, 1, 10).await;
        check_equal(&format!("{what}: one message comes"), messages.len(), 1);
        messages.remove(0)
    }

    pub async fn delete(&self, url: &str, message: &Message) {
        must(
            self.sqs
                .delete_message()
                .queue_url(url)
                .receipt_handle(handle(message))
                .send()
                .await,
        );
    }

    pub async fn visibility(&self, url: &str, message: &Message, seconds: i32) {
        let call = self
            .sqs
            .change_message_visibility()
            .queue_url(url)
            .receipt_handle(handle(message));
        must(call.visibility_timeout(seconds).send().await);
    }
}

pub async fn receive(sqs: &Client, url: &str, limit: i32, wait: i32) -> Vec<Message> {
    let call = sqs
        .receive_message()
        .queue_url(url)
        .max_number_of_messages(limit)
        .wait_time_seconds(wait);
    let call = call
        .message_attribute_names("All")
        .message_system_attribute_names(MessageSystemAttributeName::All);
    must(call.send().await).messages.unwrap_or_default()
}

pub fn settings(attributes: &[(&str, &str)]) -> HashMap<QueueAttributeName, String> {
    attributes
        .iter()
        .map(|(name, value)| (QueueAttributeName::from(*name), value.to_string()))
        .collect()
}

pub fn handle(message: &Message) -> &str {
    message.receipt_handle().unwrap_or_default()
}

/// What the message says of itself, by the name of the system attribute.
pub fn shown(message: &Message, name: &str) -> String {
    let all = message
        .attributes()
        .and_then(|all| all.get(&MessageSystemAttributeName::from(name)));
    all.cloned().unwrap_or_default()
}

pub fn text(data_type: &str, value: &str) -> MessageAttributeValue {
    must(
        MessageAttributeValue::builder()
            .data_type(data_type)
            .string_value(value)
            .build(),
    )
}

pub fn bytes(value: &[u8]) -> MessageAttributeValue {
    must(
        MessageAttributeValue::builder()
            .data_type("Binary")
            .binary_value(Blob::new(value))
            .build(),
    )
}

pub fn md5_of(body: &str) -> String {
    format!("{:x}", md5::compute(body))
}

/// The SDK checks none, so the program does.
pub fn md5_of_attributes(attributes: &Attributes) -> String {
    let mut names: Vec<_> = attributes.keys().collect();
    names.sort();
    let mut all = md5::Context::new();
    for name in names {
        let value = &attributes[name];
        consume(&mut all, name.as_bytes());
        consume(&mut all, value.data_type().as_bytes());
        let (kind, content) = match value.string_value() {
            Some(text) => (1, text.as_bytes()),
            None => (2, value.binary_value().map_or(&[][..], |blob| blob.as_ref())),
        };
        all.consume([kind]);
        consume(&mut all, content);
    }
    format!("{:x}", all.finalize())
}

fn consume(into: &mut md5::Context, value: &[u8]) {
    into.consume((value.len() as u32).to_be_bytes());
    into.consume(value);
}
