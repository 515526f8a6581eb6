package main

import (
	"sync"

	"okuri-jobs"

	"github.com/aws/aws-sdk-go/aws"
	"github.com/aws/aws-sdk-go/service/sqs"
)

// worker is `aws-sdk-go-v1 jobs send FROM COUNT` and `… work`, for worker-trial.ts.
func worker(args []string) {
	url := *must(client.GetQueueUrl(&sqs.GetQueueUrlInput{QueueName: &jobs.Queue})).QueueUrl
	if args[0] == "send" {
		sendJobs(url, jobs.Batches(args[1], args[2]))
		did("batches", "attributes with MD5")
		return
	}
	for {
		var running sync.WaitGroup
		for _, message := range must(receive(url, 10, 20)) {
			running.Go(func() { work(url, message) })
		}
		running.Wait()
	}
}

func sendJobs(url string, batches [][]string) {
	for _, batch := range batches {
		entries := []*sqs.SendMessageBatchRequestEntry{}
		for _, number := range batch {
			entries = append(entries, &sqs.SendMessageBatchRequestEntry{
				Id: &number, MessageBody: &number, MessageAttributes: jobAttributes(number),
			})
		}
		sent := must(client.SendMessageBatch(&sqs.SendMessageBatchInput{QueueUrl: &url, Entries: entries})).Successful
		checkEqual("sent", len(sent), len(batch))
		for _, entry := range sent {
			checkEqual("MD5OfMessageAttributes", *entry.MD5OfMessageAttributes, jobs.MD5Of(*entry.Id))
		}
	}
}

func work(url string, message *sqs.Message) {
	number := *message.Body
	checkEqual("the attributes", message.MessageAttributes, jobAttributes(number))
	checkEqual("their MD5", *message.MD5OfMessageAttributes, jobs.MD5Of(number))
	if jobs.Run(number) {
		check("delete", drop(url, message.ReceiptHandle) == nil, nil)
	} else {
		check("give back", visibility(url, message, 0) == nil, nil)
	}
}

func jobAttributes(number string) map[string]*sqs.MessageAttributeValue {
	values := map[string]*sqs.MessageAttributeValue{}
	for _, each := range jobs.AttributesOf(number) {
		value := &sqs.MessageAttributeValue{DataType: aws.String(each.Type), BinaryValue: each.Bytes}
		if each.Bytes == nil {
			value.StringValue = aws.String(each.Text)
		}
		values[each.Name] = value
	}
	return values
}
