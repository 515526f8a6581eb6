package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// A producer sends everything twice; four consumers do the jobs of ten groups, one in seven of which fails once.
const (
	groupCount    = 10
	each          = 12
	consumerCount = 4
)

type job struct {
	Group  string
	Number int
}

func jobOf(message types.Message) (parsed job) {
	if json.Unmarshal([]byte(*message.Body), &parsed) != nil {
		check("a job", false, *message.Body)
	}
	return parsed
}

// produce returns the sequence numbers by message id.
func produce(url string) map[string]string {
	sent, last := map[string]string{}, ""
	for number := range each {
		entries := []types.SendMessageBatchRequestEntry{}
		for n := range groupCount {
			group := fmt.Sprint("group-", n)
			body := must(json.Marshal(job{group, number}))
			entries = append(entries, types.SendMessageBatchRequestEntry{
				Id: &group, MessageBody: aws.String(string(body)), MessageGroupId: &group,
				MessageDeduplicationId: aws.String(fmt.Sprint(group, "/", number)),
				MessageAttributes: map[string]types.MessageAttributeValue{
					"number": {DataType: aws.String("Number"), StringValue: aws.String(strconv.Itoa(number))},
				},
			})
		}
		batch := &sqs.SendMessageBatchInput{QueueUrl: &url, Entries: entries}
		first, again := must(client.SendMessageBatch(ctx, batch)), must(client.SendMessageBatch(ctx, batch))
		checkEqual(fmt.Sprint("round ", number, ": duplicates are answered like the first"), again.Successful, first.Successful)
		for _, entry := range first.Successful {
			check("numbers of 20 digits, rising", len(*entry.SequenceNumber) == 20 && last < *entry.SequenceNumber, *entry.SequenceNumber)
			last = *entry.SequenceNumber
			sent[*entry.MessageId] = last
		}
	}
	checkEqual("as many messages as were meant", len(sent), groupCount*each)
	return sent
}

type consumers struct {
	sync.Mutex
	url    string
	sent   map[string]string
	done   map[string][]int
	count  int
	held   map[string]bool
	failed map[job]bool
	wrong  []any
}

func (c *consumers) finished() bool {
	c.Lock()
	defer c.Unlock()
	return c.count == groupCount*each
}

func (c *consumers) look(messages []types.Message) {
	c.Lock()
	defer c.Unlock()
	groups := map[string]bool{}
	for _, message := range messages {
		this := jobOf(message)
		groups[this.Group] = true
		shown := message.Attributes
		if shown["MessageGroupId"] != this.Group || shown["MessageDeduplicationId"] != fmt.Sprint(this.Group, "/", this.Number) ||
			shown["SequenceNumber"] != c.sent[*message.MessageId] ||
			*message.MessageAttributes["number"].StringValue != strconv.Itoa(this.Number) {
			c.wrong = append(c.wrong, message)
		}
	}
	for group := range groups {
		if c.held[group] {
			c.wrong = append(c.wrong, "in two hands: "+group)
		}
		c.held[group] = true
	}
}

// finish gives back what fails with everything behind it in its group, by one request.
func (c *consumers) finish(messages []types.Message) {
	keep, back := []types.DeleteMessageBatchRequestEntry{}, []types.ChangeMessageVisibilityBatchRequestEntry{}
	c.Lock()
	stopped := map[string]bool{}
	for n, message := range messages {
		this := jobOf(message)
		delete(c.held, this.Group)
		if stopped[this.Group] || this.Number%7 == 3 && !c.failed[this] {
			c.failed[this] = c.failed[this] || !stopped[this.Group]
			stopped[this.Group] = true
			back = append(back, types.ChangeMessageVisibilityBatchRequestEntry{Id: aws.String(strconv.Itoa(n)), ReceiptHandle: message.ReceiptHandle})
			continue
		}
		c.done[this.Group] = append(c.done[this.Group], this.Number)
		c.count++
		keep = append(keep, types.DeleteMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(n)), ReceiptHandle: message.ReceiptHandle})
	}
	c.Unlock()
	if len(keep) > 0 {
		answer := must(client.DeleteMessageBatch(ctx, &sqs.DeleteMessageBatchInput{QueueUrl: &c.url, Entries: keep}))
		check("a batch of deletes", len(answer.Failed) == 0, answer.Failed)
	}
	if len(back) > 0 {
		answer := must(client.ChangeMessageVisibilityBatch(ctx, &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: &c.url, Entries: back}))
		check("a batch of visibilities", len(answer.Failed) == 0, answer.Failed)
	}
}

func createFifo(name string, attributes map[string]string) string {
	attributes["FifoQueue"] = "true"
	return must(create(name+".fifo", attributes))
}

func groups() {
	url := createFifo("groups", map[string]string{"VisibilityTimeout": "60"})
	c := &consumers{url: url, sent: produce(url), done: map[string][]int{}, held: map[string]bool{}, failed: map[job]bool{}}
	var running sync.WaitGroup
	for range consumerCount {
		running.Go(func() {
			for !c.finished() {
				messages := must(receive(url, 10, 2))
				c.look(messages)
				time.Sleep(10 * time.Millisecond)
				c.finish(messages)
			}
		})
	}
	running.Wait()
	check("nothing was wrong with what came", len(c.wrong) == 0, c.wrong)
	check("some failed", len(c.failed) >= groupCount, len(c.failed))
	order := []int{}
	for number := range each {
		order = append(order, number)
	}
	for group, numbers := range c.done {
		checkEqual(group+" in order", numbers, order)
	}
	checkEqual("every group", len(c.done), groupCount)
	again := must(client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: &url, MessageBody: aws.String("late"), MessageGroupId: aws.String("any"), MessageDeduplicationId: aws.String("group-0/0"),
	}))
	check("a duplicate of what was deleted", c.sent[*again.MessageId] != "", *again.MessageId)
	checkEqual("is not there", len(must(receive(url, 10, 1))), 0)
	remove(url)
}

func locks() {
	url := createFifo("locks", map[string]string{"ContentBasedDeduplication": "true"})
	send := func(body, group string, delay int32) error {
		input := &sqs.SendMessageInput{QueueUrl: &url, MessageBody: &body, DelaySeconds: delay}
		if group != "" {
			input.MessageGroupId = &group
		}
		_, err := client.SendMessage(ctx, input)
		return err
	}
	for _, body := range []string{"1", "2", "3"} {
		check("send", send(body, "g", 0) == nil, nil)
	}
	first := receiveOne("the head of the group", url)
	visibility(url, first, 2)
	hash := sha256.Sum256([]byte("1"))
	checkEqual("deduplicated by content", first.Attributes["MessageDeduplicationId"], hex.EncodeToString(hash[:]))
	checkEqual("a group in flight yields nothing", len(must(receive(url, 10, 0))), 0)
	bodies := []string{}
	for _, message := range must(receive(url, 2, 10)) {
		bodies = append(bodies, *message.Body)
	}
	checkEqual("after its timeout it comes from its head", bodies, []string{"1", "2"})
	checkCode("an expired handle", drop(url, first.ReceiptHandle), "InvalidParameterValue")
	checkCode("no group", send("4", "", 0), "MissingParameter")
	checkCode("a delay of its own", send("4", "g", 1), "InvalidParameterValue")
	remove(url)
}
