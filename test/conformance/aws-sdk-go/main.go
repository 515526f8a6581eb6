// An ordinary program on aws-sdk-go-v2. Endpoint, region and credentials come from the environment alone. The SDK
// itself checks the MD5 of every body and fails the call when one is wrong. Over 300 lines because it is one program,
// read from top to bottom like a user's own; FIFO queues (`aws-sdk-go fifo`) are in fifo.go, a worker (`aws-sdk-go jobs`)
// in jobs.go.
package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

var (
	ctx    = context.Background()
	client *sqs.Client
	prefix string
)

func create(name string, attributes map[string]string) (string, error) {
	out, err := client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String(prefix + name), Attributes: attributes})
	if err != nil {
		return "", err
	}
	return *out.QueueUrl, nil
}

func remove(url string) {
	must(client.DeleteQueue(ctx, &sqs.DeleteQueueInput{QueueUrl: &url}))
}

func attributesOf(url string) map[string]string {
	return must(client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: &url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll},
	})).Attributes
}

// counts is visible/in flight/delayed.
func counts(url string) string {
	seen := attributesOf(url)
	return seen["ApproximateNumberOfMessages"] + "/" + seen["ApproximateNumberOfMessagesNotVisible"] + "/" +
		seen["ApproximateNumberOfMessagesDelayed"]
}

func send(url, body string) (*sqs.SendMessageOutput, error) {
	return client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &url, MessageBody: &body})
}

func receive(url string, limit, wait int32) ([]types.Message, error) {
	out, err := client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: &url, MaxNumberOfMessages: limit, WaitTimeSeconds: wait, MessageAttributeNames: []string{"All"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
	})
	if err != nil {
		return nil, err
	}
	return out.Messages, nil
}

func receiveOne(what, url string) types.Message {
	messages := must(receive(url, 1, 10))
	check(what+": one message comes", len(messages) == 1, len(messages))
	return messages[0]
}

func drop(url string, handle *string) error {
	_, err := client.DeleteMessage(ctx, &sqs.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: handle})
	return err
}

func visibility(url string, message types.Message, seconds int32) {
	must(client.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{
		QueueUrl: &url, ReceiptHandle: message.ReceiptHandle, VisibilityTimeout: seconds,
	}))
}

func queues() {
	url := must(create("queues", map[string]string{"VisibilityTimeout": "45"}))
	check("the URL ends in the name", strings.HasSuffix(url, "/"+prefix+"queues"), url)
	checkEqual("create again", must(create("queues", nil)), url)
	_, err := create("queues", map[string]string{"VisibilityTimeout": "4"})
	checkRefused[*types.QueueNameExists]("create with another value", err)
	_, err = create("bad", map[string]string{"Colour": "red"})
	checkRefused[*types.InvalidAttributeName]("an unknown attribute", err)
	found := must(client.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String(prefix + "queues")}))
	checkEqual("GetQueueUrl", *found.QueueUrl, url)
	_, err = client.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String(prefix + "none")})
	checkRefused[*types.QueueDoesNotExist]("GetQueueUrl of a missing queue", err)
	checkCode("its code", err, "AWS.SimpleQueueService.NonExistentQueue")

	made, listed := []string{}, []string{}
	for _, letter := range "abcde" {
		made = append(made, must(create("list-"+string(letter), nil)))
	}
	pages := sqs.NewListQueuesPaginator(client, &sqs.ListQueuesInput{QueueNamePrefix: aws.String(prefix + "list-"), MaxResults: aws.Int32(2)})
	for pages.HasMorePages() {
		listed = append(listed, must(pages.NextPage(ctx)).QueueUrls...)
	}
	checkEqual("ListQueues by pages of two", listed, made)
	must(client.SetQueueAttributes(ctx, &sqs.SetQueueAttributesInput{QueueUrl: &url, Attributes: map[string]string{"VisibilityTimeout": "7"}}))
	checkEqual("SetQueueAttributes", attributesOf(url)["VisibilityTimeout"], "7")
	for _, each := range append(made, url) {
		remove(each)
	}
	_, err = send(url, "x")
	checkRefused[*types.QueueDoesNotExist]("a deleted queue is gone", err)
}

func sending() {
	url := must(create("sending", nil))
	attributes := map[string]types.MessageAttributeValue{
		"text":  {DataType: aws.String("String"), StringValue: aws.String("grüße 😀")},
		"count": {DataType: aws.String("Number.int"), StringValue: aws.String("42")},
		"bytes": {DataType: aws.String("Binary"), BinaryValue: []byte{0, 1, 127, 128, 255}},
	}
	for _, body := range []string{"plain", "tab\tline\nreturn\r\r\n", "emoji 😀 \U0010ffff", "<&>\"\\", " spaces "} {
		sent := must(client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &url, MessageBody: &body, MessageAttributes: attributes}))
		message := receiveOne("send and receive", url)
		checkEqual("the body round trips", *message.Body, body)
		checkEqual("MessageId", *message.MessageId, *sent.MessageId)
		checkEqual("attributes round trip", message.MessageAttributes, attributes)
		checkEqual("MD5OfMessageAttributes", *message.MD5OfMessageAttributes, *sent.MD5OfMessageAttributes)
		check("delete", drop(url, message.ReceiptHandle) == nil, nil)
	}
	largest := strings.Repeat("m", 1<<20)
	must(send(url, largest))
	large := receiveOne("1 MiB", url)
	check("1 MiB round trips", *large.Body == largest, len(*large.Body))
	check("delete it", drop(url, large.ReceiptHandle) == nil, nil)
	_, err := send(url, largest+"m")
	checkCode("a byte more", err, "InvalidParameterValue")

	entries := []types.SendMessageBatchRequestEntry{}
	for n := range 10 {
		entries = append(entries, types.SendMessageBatchRequestEntry{
			Id: aws.String(fmt.Sprint("e", n)), MessageBody: aws.String(strings.Repeat(fmt.Sprint(n), 104857)),
		})
	}
	batch := must(client.SendMessageBatch(ctx, &sqs.SendMessageBatchInput{QueueUrl: &url, Entries: entries}))
	checkEqual("a full batch", []int{len(batch.Successful), len(batch.Failed)}, []int{10, 0})
	handles := map[string]types.DeleteMessageBatchRequestEntry{}
	for len(handles) < 10 {
		messages := must(receive(url, 10, 10))
		check("the batch comes back", len(messages) > 0, len(handles))
		for _, message := range messages {
			handles[*message.MessageId] = types.DeleteMessageBatchRequestEntry{Id: message.MessageId, ReceiptHandle: message.ReceiptHandle}
		}
	}
	deletes := []types.DeleteMessageBatchRequestEntry{}
	for _, entry := range handles {
		deletes = append(deletes, entry)
	}
	changes := []types.ChangeMessageVisibilityBatchRequestEntry{}
	for _, entry := range deletes {
		changes = append(changes, types.ChangeMessageVisibilityBatchRequestEntry{Id: entry.Id, ReceiptHandle: entry.ReceiptHandle, VisibilityTimeout: 60})
	}
	changed := must(client.ChangeMessageVisibilityBatch(ctx, &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: &url, Entries: changes}))
	checkEqual("a batch of visibilities", len(changed.Successful), 10)
	deleted := must(client.DeleteMessageBatch(ctx, &sqs.DeleteMessageBatchInput{QueueUrl: &url, Entries: deletes}))
	checkEqual("a batch of deletes", len(deleted.Successful), 10)
	checkEqual("nothing is left", counts(url), "0/0/0")
	remove(url)
}

func mistakes() {
	url := must(create("mistakes", nil))
	_, err := send(url, "\x01")
	checkRefused[*types.InvalidMessageContents]("a control character", err)
	batch := func(ids ...string) (*sqs.SendMessageBatchOutput, error) {
		entries := []types.SendMessageBatchRequestEntry{}
		for _, id := range ids {
			body := "x"
			if id == "bad" {
				body = "\x01"
			}
			entries = append(entries, types.SendMessageBatchRequestEntry{Id: aws.String(id), MessageBody: &body})
		}
		return client.SendMessageBatch(ctx, &sqs.SendMessageBatchInput{QueueUrl: &url, Entries: entries})
	}
	_, err = batch()
	checkRefused[*types.EmptyBatchRequest]("an empty batch", err)
	_, err = batch("a", "a")
	checkRefused[*types.BatchEntryIdsNotDistinct]("an id twice", err)
	_, err = batch(strings.Split("abcdefghijk", "")...)
	checkRefused[*types.TooManyEntriesInBatchRequest]("eleven entries", err)
	checkRefused[*types.ReceiptHandleIsInvalid]("a bad handle", drop(url, aws.String("nonsense")))
	_, err = receive(url, 11, 0)
	checkCode("eleven messages", err, "InvalidParameterValue")
	mixed := must(batch("good", "bad", "fine"))
	checkEqual("partial failure: sent", []string{*mixed.Successful[0].Id, *mixed.Successful[1].Id}, []string{"good", "fine"})
	checkEqual("partial failure: refused", *mixed.Failed[0].Id+" "+*mixed.Failed[0].Code, "bad InvalidMessageContents")
	stranger := sqs.NewFromConfig(must(config.LoadDefaultConfig(ctx, config.WithCredentialsProvider(
		credentials.NewStaticCredentialsProvider(os.Getenv("AWS_ACCESS_KEY_ID"), "wrong", "")))))
	_, err = stranger.ListQueues(ctx, &sqs.ListQueuesInput{})
	checkCode("a wrong secret", err, "SignatureDoesNotMatch")
	remove(url)
}

func deliveries() {
	url := must(create("deliveries", nil))
	must(send(url, "given back"))
	first := receiveOne("first delivery", url)
	checkEqual("in flight", counts(url), "0/1/0")
	visibility(url, first, 0)
	second := receiveOne("visibility 0", url)
	checkEqual("receive count 2", second.Attributes["ApproximateReceiveCount"], "2")
	check("a superseded handle is answered", drop(url, first.ReceiptHandle) == nil, nil)
	checkEqual("and deletes nothing", counts(url), "0/1/0")
	visibility(url, second, 1)
	time.Sleep(1500 * time.Millisecond)
	check("an expired handle is answered", drop(url, second.ReceiptHandle) == nil, nil)
	checkEqual("and deletes", counts(url), "0/0/0")
	check("delete twice", drop(url, second.ReceiptHandle) == nil, nil)

	must(client.SendMessage(ctx, &sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("late"), DelaySeconds: 2}))
	checkEqual("delayed", counts(url), "0/0/1")
	receiveOne("the delay ends", url)
	must(client.PurgeQueue(ctx, &sqs.PurgeQueueInput{QueueUrl: &url}))
	checkEqual("purge", counts(url), "0/0/0")

	go func() {
		time.Sleep(500 * time.Millisecond)
		must(send(url, "wake up"))
	}()
	woken := must(receive(url, 1, 20))
	check("a long poll is woken by a send", len(woken) == 1 && *woken[0].Body == "wake up", woken)
	check("delete it", drop(url, woken[0].ReceiptHandle) == nil, nil)

	impatient, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	_, err := client.ReceiveMessage(impatient, &sqs.ReceiveMessageInput{QueueUrl: &url, WaitTimeSeconds: 20})
	cancel()
	check("a client gives up its long poll", errors.Is(err, context.DeadlineExceeded), err)
	time.Sleep(300 * time.Millisecond)
	must(send(url, "not swallowed"))
	checkEqual("and swallows nothing", receiveOne("afterwards", url).Attributes["ApproximateReceiveCount"], "1")
	remove(url)
	checkEqual("recreate at once", must(create("deliveries", nil)), url)
	checkEqual("it is empty", counts(url), "0/0/0")
	remove(url)
}

func deadLetters() {
	dead := must(create("dead", nil))
	policy := fmt.Sprintf(`{"deadLetterTargetArn":"%s","maxReceiveCount":2}`, attributesOf(dead)["QueueArn"])
	url := must(create("work", map[string]string{"RedrivePolicy": policy}))
	sources := must(client.ListDeadLetterSourceQueues(ctx, &sqs.ListDeadLetterSourceQueuesInput{QueueUrl: &dead}))
	checkEqual("its sources", sources.QueueUrls, []string{url})
	sent := must(send(url, "poison"))
	for _, attempt := range []string{"1", "2"} {
		message := receiveOne("attempt "+attempt, url)
		checkEqual("its count", message.Attributes["ApproximateReceiveCount"], attempt)
		visibility(url, message, 0)
	}
	checkEqual("the third receive is empty", len(must(receive(url, 1, 1))), 0)
	message := receiveOne("dead letter", dead)
	checkEqual("the same MessageId", *message.MessageId, *sent.MessageId)
	checkEqual("DeadLetterQueueSourceArn", message.Attributes["DeadLetterQueueSourceArn"], attributesOf(url)["QueueArn"])
	checkEqual("its count goes on", message.Attributes["ApproximateReceiveCount"], "3")
	names := []string{}
	for name := range message.Attributes {
		names = append(names, name)
	}
	sort.Strings(names)
	check("the system attributes", strings.Contains(strings.Join(names, " "), "SenderId SentTimestamp"), names)
	remove(url)
	remove(dead)
}

func access() {
	created := must(client.CreateQueue(ctx, &sqs.CreateQueueInput{
		QueueName: aws.String(prefix + "access"), Tags: map[string]string{"team": "blue", "path/to": ""},
	}))
	url := *created.QueueUrl
	must(client.TagQueue(ctx, &sqs.TagQueueInput{QueueUrl: &url, Tags: map[string]string{"team": "red"}}))
	must(client.UntagQueue(ctx, &sqs.UntagQueueInput{QueueUrl: &url, TagKeys: []string{"path/to"}}))
	tags := must(client.ListQueueTags(ctx, &sqs.ListQueueTagsInput{QueueUrl: &url})).Tags
	checkEqual("tags", tags, map[string]string{"team": "red"})
	grant := func(action string) error {
		_, err := client.AddPermission(ctx, &sqs.AddPermissionInput{
			QueueUrl: &url, Label: aws.String("one"), AWSAccountIds: []string{"111111111111"}, Actions: []string{action},
		})
		return err
	}
	check("AddPermission", grant("SendMessage") == nil, nil)
	check("it writes the policy", strings.Contains(attributesOf(url)["Policy"], "SQS:SendMessage"), attributesOf(url))
	checkCode("a label once more", grant("*"), "InvalidParameterValue")
	must(client.RemovePermission(ctx, &sqs.RemovePermissionInput{QueueUrl: &url, Label: aws.String("one")}))
	checkEqual("RemovePermission", attributesOf(url)["Policy"], "")
	remove(url)
}

func did(deeds ...string) {
	for _, deed := range deeds {
		fmt.Printf("did %s\n", deed)
	}
}

func main() {
	random := make([]byte, 6)
	must(rand.Read(random))
	prefix = "aws-sdk-go-" + hex.EncodeToString(random) + "-"
	client = sqs.NewFromConfig(must(config.LoadDefaultConfig(ctx)))
	if len(os.Args) > 1 && os.Args[1] == "jobs" {
		worker(os.Args[2:])
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "fifo" {
		groups()
		locks()
		did("10 groups in order", "deduplication", "expired handles", "attributes with MD5")
		return
	}
	queues()
	sending()
	mistakes()
	deliveries()
	deadLetters()
	access()
	moves()
	did("every action", "errors", "batches", "attributes with MD5", "redeliveries", "long poll", "dead letters", "tags and permissions", "message move tasks")
}
