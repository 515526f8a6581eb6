//! An ordinary program on standard queues: every action, mistakes, batches, attributes, tags and permissions. Over 300 lines
//! because it is one program, read from top to bottom.
use crate::checks::{check, check_equal, check_refused, did, must};
use crate::deliveries;
use crate::queues::{bytes, handle, md5_of, md5_of_attributes, settings, shown, text, Attributes, Queues};
use aws_sdk_sqs::config::Credentials;
use aws_sdk_sqs::types::error::QueueDoesNotExist;
use aws_sdk_sqs::types::{
    ChangeMessageVisibilityBatchRequestEntry as ChangeEntry, DeleteMessageBatchRequestEntry as DeleteEntry,
    MessageSystemAttributeNameForSends, MessageSystemAttributeValue, SendMessageBatchRequestEntry as SendEntry,
};
use aws_sdk_sqs::Client;
use std::collections::HashMap;

pub async fn run(sqs: Client) {
    let all = Queues::new(sqs);
    queues(&all).await;
    sending(&all).await;
    mistakes(&all).await;
    deliveries::deliveries(&all).await;
    deliveries::dead_letters(&all).await;
    access(&all).await;
    deliveries::moves(&all).await;
    did(&[
        "every action",
        "errors",
        "batches",
        "attributes with MD5",
        "redeliveries",
        "long poll",
        "dead letters",
    ]);
    did(&["tags and permissions", "message move tasks"]);
}

async fn queues(all: &Queues) {
    let sqs = &all.sqs;
    let url = all.create("queues", &[("VisibilityTimeout", "45")]).await;
    check(
        "the URL ends in the name",
        url.ends_with(&format!("/{}", all.name("queues"))),
        &url,
    );
    check_equal("create again", all.create("queues", &[]).await, url.as_str());
    let create = |name: &str, key, value| {
        let call = sqs.create_queue().queue_name(all.name(name));
        call.set_attributes(Some(settings(&[(key, value)]))).send()
    };
    let other = create("queues", "VisibilityTimeout", "4").await;
    let exists = other.as_ref().err().and_then(|error| error.as_service_error());
    check(
        "an error has its class",
        exists.is_some_and(|error| error.is_queue_name_exists()),
        &exists,
    );
    check_refused("create with another value", other, "QueueAlreadyExists");
    check_refused(
        "an unknown attribute",
        create("bad", "Colour", "red").await,
        "InvalidAttributeName",
    );
    let found = must(sqs.get_queue_url().queue_name(all.name("queues")).send().await);
    check_equal("get_queue_url", found.queue_url(), Some(url.as_str()));
    let missing = sqs.get_queue_url().queue_name(all.name("none")).send().await;
    check_refused("a missing queue", missing, "AWS.SimpleQueueService.NonExistentQueue");

    let mut made = vec![];
    for letter in ["a", "b", "c", "d", "e"] {
        made.push(all.create(&format!("list-{letter}"), &[]).await);
    }
    let mut listed = vec![];
    let pages = sqs
        .list_queues()
        .queue_name_prefix(all.name("list-"))
        .into_paginator()
        .page_size(2);
    let mut urls = pages.items().send();
    while let Some(url) = urls.next().await {
        listed.push(must(url));
    }
    check_equal("list_queues by pages of two", &listed, &made);
    let changed = settings(&[("VisibilityTimeout", "7"), ("KmsMasterKeyId", "alias/aws/sqs")]);
    must(
        sqs.set_queue_attributes()
            .queue_url(&url)
            .set_attributes(Some(changed))
            .send()
            .await,
    );
    check_equal(
        "set_queue_attributes",
        all.attribute(&url, "VisibilityTimeout").await.as_deref(),
        Some("7"),
    );
    let managed = all.attribute(&url, "SqsManagedSseEnabled").await;
    check_equal("a key turns managed encryption off", managed.as_deref(), Some("false"));
    for each in made.iter().chain([&url]) {
        all.remove(each).await;
    }
    let late = sqs.send_message().queue_url(&url).message_body("x").send().await;
    let class = late.as_ref().err().and_then(|error| error.as_service_error());
    let gone: Option<&QueueDoesNotExist> = class.and_then(|error| std::error::Error::source(error)?.downcast_ref());
    check("a deleted queue is gone", gone.is_some(), class);
}

async fn sending(all: &Queues) {
    let sqs = &all.sqs;
    let url = all.create("sending", &[]).await;
    let attributes: Attributes = HashMap::from([
        ("text".into(), text("String", "grüße 😀")),
        ("count".into(), text("Number.int", "42")),
        ("bytes".into(), bytes(&[0, 1, 127, 128, 255])),
    ]);
    for body in [
        "plain",
        "tab\tline\nreturn\r\r\n",
        "emoji 😀 \u{10ffff}",
        "<&>\"\\",
        " spaces ",
    ] {
        let call = sqs.send_message().queue_url(&url).message_body(body);
        let sent = must(call.set_message_attributes(Some(attributes.clone())).send().await);
        check_equal(
            "MD5OfMessageBody",
            sent.md5_of_message_body(),
            Some(md5_of(body).as_str()),
        );
        let digest = md5_of_attributes(&attributes);
        check_equal(
            "MD5OfMessageAttributes",
            sent.md5_of_message_attributes(),
            Some(digest.as_str()),
        );
        let message = all.receive_one("send and receive", &url).await;
        check_equal("the body round trips", message.body(), Some(body));
        check_equal("MessageId", message.message_id(), sent.message_id());
        check_equal("attributes round trip", message.message_attributes(), Some(&attributes));
        check_equal("their MD5", message.md5_of_message_attributes(), Some(digest.as_str()));
        check_equal("MD5OfBody", message.md5_of_body(), sent.md5_of_message_body());
        all.delete(&url, &message).await;
    }
    let header = must(
        MessageSystemAttributeValue::builder()
            .data_type("String")
            .string_value("Root=1-5759e988")
            .build(),
    );
    let call = sqs
        .send_message()
        .queue_url(&url)
        .message_body("traced")
        .message_group_id("tenant");
    must(
        call.message_system_attributes(MessageSystemAttributeNameForSends::AwsTraceHeader, header)
            .send()
            .await,
    );
    let traced = all.receive_one("traced", &url).await;
    check_equal("AWSTraceHeader", shown(&traced, "AWSTraceHeader"), "Root=1-5759e988");
    check_equal("MessageGroupId", shown(&traced, "MessageGroupId"), "tenant");
    all.delete(&url, &traced).await;

    let largest = "m".repeat(1 << 20);
    all.send(&url, &largest).await;
    let large = all.receive_one("1 MiB", &url).await;
    check(
        "1 MiB round trips",
        large.body() == Some(&largest),
        large.body().map(str::len),
    );
    all.delete(&url, &large).await;
    let over = sqs
        .send_message()
        .queue_url(&url)
        .message_body(largest + "m")
        .send()
        .await;
    check_refused("a byte more", over, "InvalidParameterValue");
    batch(all, &url).await;
    all.remove(&url).await;
}

async fn batch(all: &Queues, url: &str) {
    let sqs = &all.sqs;
    let mut call = sqs.send_message_batch().queue_url(url);
    for number in 0..10 {
        let body = number.to_string().repeat(104_857);
        call = call.entries(must(
            SendEntry::builder().id(format!("e{number}")).message_body(body).build(),
        ));
    }
    let sent = must(call.send().await);
    check_equal("a full batch", (sent.successful().len(), sent.failed().len()), (10, 0));
    let mut seen = HashMap::new();
    while seen.len() < 10 {
        let messages = all.receive(url, 10, 10).await;
        check("the batch comes back", !messages.is_empty(), seen.len());
        seen.extend(
            messages
                .into_iter()
                .map(|each| (each.message_id().unwrap_or_default().to_string(), each)),
        );
    }
    let (mut back, mut deletes) = (
        sqs.change_message_visibility_batch().queue_url(url),
        sqs.delete_message_batch().queue_url(url),
    );
    for (number, message) in seen.values().enumerate() {
        let change = ChangeEntry::builder()
            .id(number.to_string())
            .receipt_handle(handle(message));
        back = back.entries(must(change.visibility_timeout(60).build()));
        let delete = DeleteEntry::builder()
            .id(number.to_string())
            .receipt_handle(handle(message));
        deletes = deletes.entries(must(delete.build()));
    }
    check_equal(
        "a batch of visibilities",
        must(back.send().await).successful().len(),
        10,
    );
    check_equal("a batch of deletes", must(deletes.send().await).successful().len(), 10);
    check_equal("nothing is left", all.counts(url).await, "0/0/0");
}

async fn mistakes(all: &Queues) {
    let sqs = &all.sqs;
    let url = all.create("mistakes", &[]).await;
    let send = |body: &str| sqs.send_message().queue_url(&url).message_body(body).send();
    check_refused("a control character", send("\u{1}").await, "InvalidMessageContents");
    check_refused("no body", send("").await, "MissingParameter");
    let batch = |ids: &[&str]| {
        let entry = |id: &&str| {
            must(
                SendEntry::builder()
                    .id(*id)
                    .message_body(if *id == "bad" { "\u{1}" } else { "x" })
                    .build(),
            )
        };
        sqs.send_message_batch()
            .queue_url(&url)
            .set_entries(Some(ids.iter().map(entry).collect()))
            .send()
    };
    let simple = |name| format!("AWS.SimpleQueueService.{name}");
    check_refused("an empty batch", batch(&[]).await, &simple("EmptyBatchRequest"));
    check_refused(
        "an id twice",
        batch(&["a", "a"]).await,
        &simple("BatchEntryIdsNotDistinct"),
    );
    let eleven: Vec<_> = "abcdefghijk".split("").filter(|each| !each.is_empty()).collect();
    check_refused(
        "eleven entries",
        batch(&eleven).await,
        &simple("TooManyEntriesInBatchRequest"),
    );
    let drop = sqs
        .delete_message()
        .queue_url(&url)
        .receipt_handle("nonsense")
        .send()
        .await;
    check_refused("a bad handle", drop, "ReceiptHandleIsInvalid");
    let many = sqs
        .receive_message()
        .queue_url(&url)
        .max_number_of_messages(11)
        .send()
        .await;
    check_refused("eleven messages", many, "InvalidParameterValue");
    let mixed = must(batch(&["good", "bad", "fine"]).await);
    let went: Vec<_> = mixed.successful().iter().map(|entry| entry.id()).collect();
    check_equal("partial failure: sent", went, ["good", "fine"]);
    let refused: Vec<_> = mixed.failed().iter().map(|entry| (entry.id(), entry.code())).collect();
    check_equal("partial failure: refused", refused, [("bad", "InvalidMessageContents")]);
    let id = must(std::env::var("AWS_ACCESS_KEY_ID"));
    let keys = Credentials::new(id, "wrong", None, None, "a stranger");
    let stranger = Client::from_conf(sqs.config().to_builder().credentials_provider(keys).build());
    check_refused(
        "a wrong secret",
        stranger.list_queues().send().await,
        "SignatureDoesNotMatch",
    );
    all.remove(&url).await;
}

async fn access(all: &Queues) {
    let sqs = &all.sqs;
    let url = all.create("access", &[]).await;
    must(
        sqs.tag_queue()
            .queue_url(&url)
            .tags("team", "blue")
            .tags("path/to", "")
            .send()
            .await,
    );
    must(sqs.untag_queue().queue_url(&url).tag_keys("path/to").send().await);
    let tags = must(sqs.list_queue_tags().queue_url(&url).send().await)
        .tags
        .unwrap_or_default();
    check_equal("tags", tags, HashMap::from([("team".to_string(), "blue".to_string())]));
    let grant = |action| {
        let call = sqs
            .add_permission()
            .queue_url(&url)
            .label("one")
            .aws_account_ids("111111111111");
        call.actions(action).send()
    };
    must(grant("SendMessage").await);
    let policy = all.attribute(&url, "Policy").await.unwrap_or_default();
    check(
        "add_permission writes the policy",
        policy.contains("SQS:SendMessage"),
        &policy,
    );
    check_refused("a label once more", grant("*").await, "InvalidParameterValue");
    must(sqs.remove_permission().queue_url(&url).label("one").send().await);
    check_equal("remove_permission", all.attribute(&url, "Policy").await, None::<String>);
    all.remove(&url).await;
}
