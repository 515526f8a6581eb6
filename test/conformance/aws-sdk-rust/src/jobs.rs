//! A worker's jobs, for worker-trial.ts, which says what `send` and `work` have to do and to record.
use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use aws_sdk_sqs::types::{Message, SendMessageBatchRequestEntry as SendEntry};
use aws_sdk_sqs::Client;

use crate::checks::{check_equal, did, must};
use crate::queues::{bytes, handle, md5_of_attributes, receive, text, Attributes};

fn variable(name: &str) -> String {
    must(std::env::var(name))
}

async fn url(sqs: &Client) -> String {
    let found = must(sqs.get_queue_url().queue_name(variable("JOB_QUEUE")).send().await);
    found.queue_url.unwrap_or_default()
}

fn attributes_of(number: &str) -> Attributes {
    let all = [
        ("kind", text("String", "größe 😀")),
        ("number", text("Number.int", number)),
        ("bytes", bytes(&[0, 255])),
    ];
    all.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
}

pub async fn send(sqs: Client, first: usize, count: usize) {
    let url = url(&sqs).await;
    let numbers: Vec<_> = (first..first + count).map(|number| number.to_string()).collect();
    for batch in numbers.chunks(10) {
        let entry = |number: &String| {
            let entry = SendEntry::builder().id(number).message_body(number);
            must(entry.set_message_attributes(Some(attributes_of(number))).build())
        };
        let call = sqs
            .send_message_batch()
            .queue_url(&url)
            .set_entries(Some(batch.iter().map(entry).collect()));
        let sent = must(call.send().await);
        check_equal("sent", sent.successful().len(), batch.len());
        for entry in sent.successful() {
            let digest = md5_of_attributes(&attributes_of(entry.id()));
            check_equal(
                "MD5OfMessageAttributes",
                entry.md5_of_message_attributes(),
                Some(digest.as_str()),
            );
        }
    }
    did(&["batches", "attributes with MD5"]);
}

pub async fn work(sqs: Client) {
    let url = url(&sqs).await;
    loop {
        let jobs: Vec<_> = receive(&sqs, &url, 10, 20)
            .await
            .into_iter()
            .map(|message| job(&sqs, &url, message))
            .collect();
        let mut running = tokio::task::JoinSet::new();
        jobs.into_iter().for_each(|job| drop(running.spawn(job)));
        running.join_all().await;
    }
}

fn job(sqs: &Client, url: &str, message: Message) -> impl std::future::Future<Output = ()> + Send + 'static {
    let (sqs, url) = (sqs.clone(), url.to_string());
    async move {
        let number = message.body().unwrap_or_default();
        check_equal(
            "the attributes",
            message.message_attributes(),
            Some(&HashMap::from_iter(attributes_of(number))),
        );
        if done(number).await {
            must(
                sqs.delete_message()
                    .queue_url(url)
                    .receipt_handle(handle(&message))
                    .send()
                    .await,
            );
        } else {
            let back = sqs
                .change_message_visibility()
                .queue_url(url)
                .receipt_handle(handle(&message));
            must(back.visibility_timeout(0).send().await);
        }
    }
}

/// False once for the job that fails; stays for minutes in the one that hangs.
async fn done(number: &str) -> bool {
    if number == variable("JOB_FAILS") && happened("failed", number) == 0 {
        record("failed", number);
        return false;
    }
    if number == variable("JOB_HANGS") {
        let elsewhere = happened("started", number) > 0 && !file("started", number).exists();
        record("started", number);
        if !elsewhere {
            tokio::time::sleep(Duration::from_secs(300)).await;
        }
    }
    record("done", number);
    true
}

fn file(event: &str, number: &str) -> PathBuf {
    PathBuf::from(variable("JOB_RECORDS")).join(format!("{event}-{number}.{}", variable("JOB_WORKER")))
}

fn record(event: &str, number: &str) {
    must(std::fs::write(file(event, number), ""));
}

fn happened(event: &str, number: &str) -> usize {
    let prefix = format!("{event}-{number}.");
    let names = must(std::fs::read_dir(variable("JOB_RECORDS"))).map(|entry| must(entry).file_name());
    names.filter(|name| name.to_string_lossy().starts_with(&prefix)).count()
}
