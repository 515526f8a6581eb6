// An ordinary program on aws-sdk-go v1, of a version that speaks the query protocol (go.mod), as it did up to 1.46, and of
// the last (json.mod). The SDK itself checks the MD5 of every body and fails the call when one is wrong. Region and
// credentials come from the environment alone; the endpoint must be told, since this SDK has no variable for it.
package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go/aws"
	"github.com/aws/aws-sdk-go/aws/awserr"
	"github.com/aws/aws-sdk-go/aws/credentials"
	"github.com/aws/aws-sdk-go/aws/request"
	"github.com/aws/aws-sdk-go/aws/session"
	"github.com/aws/aws-sdk-go/service/sqs"
)

const simple = "AWS.SimpleQueueService."

var (
	client *sqs.SQS
	prefix string
)

func connect(configs ...*aws.Config) *sqs.SQS {
	all := append([]*aws.Config{{Endpoint: aws.String(os.Getenv("AWS_ENDPOINT_URL"))}}, configs...)
	return sqs.New(session.Must(session.NewSession(all...)))
}

func speaksJSON() bool { return client.JSONVersion != "" }

func create(name string, attributes map[string]*string) (string, error) {
	out, err := client.CreateQueue(&sqs.CreateQueueInput{QueueName: aws.String(prefix + name), Attributes: attributes})
	if err != nil {
		return "", err
	}
	return *out.QueueUrl, nil
}

func remove(url string) {
	must(client.DeleteQueue(&sqs.DeleteQueueInput{QueueUrl: &url}))
}

func attributesOf(url string) map[string]string {
	return aws.StringValueMap(must(client.GetQueueAttributes(&sqs.GetQueueAttributesInput{
		QueueUrl: &url, AttributeNames: []*string{aws.String("All")},
	})).Attributes)
}

// counts is visible/in flight/delayed.
func counts(url string) string {
	seen := attributesOf(url)
	return seen["ApproximateNumberOfMessages"] + "/" + seen["ApproximateNumberOfMessagesNotVisible"] + "/" +
		seen["ApproximateNumberOfMessagesDelayed"]
}

func send(url, body string) (*sqs.SendMessageOutput, error) {
	return client.SendMessage(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: &body})
}

func receive(url string, limit, wait int64) ([]*sqs.Message, error) {
	out, err := client.ReceiveMessage(&sqs.ReceiveMessageInput{
		QueueUrl: &url, MaxNumberOfMessages: &limit, WaitTimeSeconds: &wait,
		AttributeNames: []*string{aws.String("All")}, MessageAttributeNames: []*string{aws.String("All")},
	})
	if err != nil {
		return nil, err
	}
	return out.Messages, nil
}

func receiveOne(what, url string) *sqs.Message {
	messages := must(receive(url, 1, 10))
	check(what+": one message comes", len(messages) == 1, len(messages))
	return messages[0]
}

func drop(url string, handle *string) error {
	_, err := client.DeleteMessage(&sqs.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: handle})
	return err
}

func visibility(url string, message *sqs.Message, seconds int64) error {
	_, err := client.ChangeMessageVisibility(&sqs.ChangeMessageVisibilityInput{
		QueueUrl: &url, ReceiptHandle: message.ReceiptHandle, VisibilityTimeout: &seconds,
	})
	return err
}

func queues() {
	url := must(create("queues", map[string]*string{"VisibilityTimeout": aws.String("45")}))
	check("the URL ends in the name", strings.HasSuffix(url, "/"+prefix+"queues"), url)
	checkEqual("create again", must(create("queues", nil)), url)
	_, err := create("queues", map[string]*string{"VisibilityTimeout": aws.String("4")})
	checkRefused("create with another value", err, sqs.ErrCodeQueueNameExists, 400)
	_, err = create("bad", map[string]*string{"Colour": aws.String("red")})
	checkRefused("an unknown attribute", err, "InvalidAttributeName", 400)
	found := must(client.GetQueueUrl(&sqs.GetQueueUrlInput{QueueName: aws.String(prefix + "queues")}))
	checkEqual("GetQueueUrl", *found.QueueUrl, url)
	_, err = client.GetQueueUrl(&sqs.GetQueueUrlInput{QueueName: aws.String(prefix + "none")})
	checkRefused("GetQueueUrl of a missing queue", err, sqs.ErrCodeQueueDoesNotExist, 400)
	words := "The specified queue does not exist for this wsdl version."
	if speaksJSON() {
		words = "The specified queue does not exist."
	}
	checkEqual("its words", err.(awserr.Error).Message(), words)

	made, listed := []string{}, []string{}
	for _, letter := range "abcde" {
		made = append(made, must(create("list-"+string(letter), nil)))
	}
	input := &sqs.ListQueuesInput{QueueNamePrefix: aws.String(prefix + "list-"), MaxResults: aws.Int64(2)}
	err = client.ListQueuesPages(input, func(page *sqs.ListQueuesOutput, _ bool) bool {
		listed = append(listed, aws.StringValueSlice(page.QueueUrls)...)
		return true
	})
	check("ListQueues by pages of two", err == nil && strings.Join(listed, " ") == strings.Join(made, " "), listed)
	must(client.SetQueueAttributes(&sqs.SetQueueAttributesInput{QueueUrl: &url, Attributes: map[string]*string{
		"VisibilityTimeout": aws.String("7"), "DelaySeconds": aws.String("1"),
	}}))
	seen := attributesOf(url)
	checkEqual("SetQueueAttributes", seen["VisibilityTimeout"]+" "+seen["DelaySeconds"], "7 1")
	for _, each := range append(made, url) {
		remove(each)
	}
	_, err = send(url, "x")
	checkRefused("a deleted queue is gone", err, sqs.ErrCodeQueueDoesNotExist, 400)
}

func sending() {
	url := must(create("sending", nil))
	attributes := map[string]*sqs.MessageAttributeValue{
		"text":  {DataType: aws.String("String"), StringValue: aws.String("grüße & <😀>\r\n")},
		"count": {DataType: aws.String("Number.int"), StringValue: aws.String("42")},
		"bytes": {DataType: aws.String("Binary"), BinaryValue: []byte{0, 1, 127, 128, 255}},
	}
	for _, body := range []string{"plain", "tab\tline\nreturn\r\r\n", "emoji 😀 \U0010ffff", "<&>\"\\ ]]> &#xd;", " spaces + % ", "\n"} {
		sent := must(client.SendMessage(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: &body, MessageAttributes: attributes}))
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
	checkRefused("a byte more", err, "InvalidParameterValue", 400)

	entries := []*sqs.SendMessageBatchRequestEntry{}
	for n := range 10 {
		entries = append(entries, &sqs.SendMessageBatchRequestEntry{
			Id: aws.String(fmt.Sprint("e", n)), MessageBody: aws.String(strings.Repeat(fmt.Sprint(n), 50000)),
			MessageAttributes: attributes,
		})
	}
	batch := must(client.SendMessageBatch(&sqs.SendMessageBatchInput{QueueUrl: &url, Entries: entries}))
	checkEqual("a full batch", []int{len(batch.Successful), len(batch.Failed)}, []int{10, 0})
	handles := map[string]*sqs.DeleteMessageBatchRequestEntry{}
	for len(handles) < 10 {
		messages := must(receive(url, 10, 10))
		check("the batch comes back", len(messages) > 0, len(handles))
		for _, message := range messages {
			handles[*message.MessageId] = &sqs.DeleteMessageBatchRequestEntry{Id: message.MessageId, ReceiptHandle: message.ReceiptHandle}
		}
	}
	deletes := []*sqs.DeleteMessageBatchRequestEntry{}
	for _, entry := range handles {
		deletes = append(deletes, entry)
	}
	deleted := must(client.DeleteMessageBatch(&sqs.DeleteMessageBatchInput{QueueUrl: &url, Entries: deletes}))
	checkEqual("a batch of deletes", len(deleted.Successful), 10)
	checkEqual("nothing is left", counts(url), "0/0/0")
	remove(url)
}

func mistakes() {
	url := must(create("mistakes", nil))
	_, err := send(url, "\x01")
	checkRefused("a control character", err, sqs.ErrCodeInvalidMessageContents, 400)
	batch := func(ids ...string) (*sqs.SendMessageBatchOutput, error) {
		entries := []*sqs.SendMessageBatchRequestEntry{}
		for _, id := range ids {
			body := "x"
			if id == "bad" {
				body = "\x01"
			}
			entries = append(entries, &sqs.SendMessageBatchRequestEntry{Id: aws.String(id), MessageBody: &body})
		}
		return client.SendMessageBatch(&sqs.SendMessageBatchInput{QueueUrl: &url, Entries: entries})
	}
	_, err = batch()
	checkRefused("an empty batch", err, simple+"EmptyBatchRequest", 400)
	_, err = batch("a", "a")
	checkRefused("an id twice", err, simple+"BatchEntryIdsNotDistinct", 400)
	_, err = batch(strings.Split("abcdefghijk", "")...)
	checkRefused("eleven entries", err, simple+"TooManyEntriesInBatchRequest", 400)
	checkRefused("a bad handle", drop(url, aws.String("nonsense")), sqs.ErrCodeReceiptHandleIsInvalid, 400)
	_, err = receive(url, 11, 0)
	checkRefused("eleven messages", err, "InvalidParameterValue", 400)
	mixed := must(batch("good", "bad", "fine"))
	checkEqual("partial failure: sent", []string{*mixed.Successful[0].Id, *mixed.Successful[1].Id}, []string{"good", "fine"})
	refused := *mixed.Failed[0]
	checkEqual("partial failure: refused", *refused.Id+" "+*refused.Code, "bad InvalidMessageContents")
	check("partial failure: by the sender", *refused.SenderFault, refused)
	stranger := connect(&aws.Config{Credentials: credentials.NewStaticCredentials(os.Getenv("AWS_ACCESS_KEY_ID"), "wrong", "")})
	_, err = stranger.ListQueues(&sqs.ListQueuesInput{})
	checkRefused("a wrong secret", err, "SignatureDoesNotMatch", 403)
	remove(url)
}

func deliveries() {
	url := must(create("deliveries", nil))
	must(send(url, "given back"))
	first := receiveOne("first delivery", url)
	checkEqual("in flight", counts(url), "0/1/0")
	check("visibility 0", visibility(url, first, 0) == nil, nil)
	second := receiveOne("it comes again", url)
	checkEqual("receive count 2", *second.Attributes["ApproximateReceiveCount"], "2")
	check("a superseded handle is answered", drop(url, first.ReceiptHandle) == nil, nil)
	checkEqual("and deletes nothing", counts(url), "0/1/0")
	changed := must(client.ChangeMessageVisibilityBatch(&sqs.ChangeMessageVisibilityBatchInput{
		QueueUrl: &url, Entries: []*sqs.ChangeMessageVisibilityBatchRequestEntry{
			{Id: aws.String("a"), ReceiptHandle: second.ReceiptHandle, VisibilityTimeout: aws.Int64(1)},
			{Id: aws.String("b"), ReceiptHandle: aws.String("nonsense"), VisibilityTimeout: aws.Int64(1)},
		},
	}))
	checkEqual("visibility in a batch", *changed.Successful[0].Id+" "+*changed.Failed[0].Code, "a ReceiptHandleIsInvalid")
	time.Sleep(1500 * time.Millisecond)
	check("an expired handle is answered", drop(url, second.ReceiptHandle) == nil, nil)
	checkEqual("and deletes", counts(url), "0/0/0")

	must(client.SendMessage(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("late"), DelaySeconds: aws.Int64(2)}))
	checkEqual("delayed", counts(url), "0/0/1")
	receiveOne("the delay ends", url)
	must(client.PurgeQueue(&sqs.PurgeQueueInput{QueueUrl: &url}))
	checkEqual("purge", counts(url), "0/0/0")

	go func() {
		time.Sleep(500 * time.Millisecond)
		must(send(url, "wake up"))
	}()
	woken := must(receive(url, 1, 20))
	check("a long poll is woken by a send", len(woken) == 1 && *woken[0].Body == "wake up", woken)
	check("delete it", drop(url, woken[0].ReceiptHandle) == nil, nil)

	impatient, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	_, err := client.ReceiveMessageWithContext(impatient, &sqs.ReceiveMessageInput{QueueUrl: &url, WaitTimeSeconds: aws.Int64(20)})
	cancel()
	refused, ok := err.(awserr.Error)
	check("a client gives up its long poll", ok && refused.Code() == request.CanceledErrorCode, err)
	time.Sleep(300 * time.Millisecond)
	must(send(url, "not swallowed"))
	checkEqual("and swallows nothing", *receiveOne("afterwards", url).Attributes["ApproximateReceiveCount"], "1")
	remove(url)
}

func main() {
	random := make([]byte, 6)
	must(rand.Read(random))
	prefix = "aws-sdk-go-v1-" + hex.EncodeToString(random) + "-"
	client = connect()
	if len(os.Args) > 1 && os.Args[1] == "jobs" {
		worker(os.Args[2:])
		return
	}
	queues()
	sending()
	mistakes()
	deliveries()
	deadLetters()
	access()
	moves()
	fifo()
	did(
		"every action", "errors", "batches", "attributes with MD5", "redeliveries", "long poll", "dead letters",
		"tags and permissions", "message move tasks", "a FIFO queue",
	)
}
