package main

import (
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go/aws"
	"github.com/aws/aws-sdk-go/service/sqs"
)

func deadLetters() {
	dead := must(create("dead", nil))
	policy := fmt.Sprintf(`{"deadLetterTargetArn":"%s","maxReceiveCount":2}`, attributesOf(dead)["QueueArn"])
	url := must(create("work", map[string]*string{"RedrivePolicy": &policy}))
	sources := must(client.ListDeadLetterSourceQueues(&sqs.ListDeadLetterSourceQueuesInput{QueueUrl: &dead}))
	checkEqual("its sources", aws.StringValueSlice(sources.QueueUrls), []string{url})
	sent := must(send(url, "poison"))
	for _, attempt := range []string{"1", "2"} {
		message := receiveOne("attempt "+attempt, url)
		checkEqual("its count", *message.Attributes["ApproximateReceiveCount"], attempt)
		check("given back", visibility(url, message, 0) == nil, nil)
	}
	checkEqual("the third receive is empty", len(must(receive(url, 1, 1))), 0)
	message := receiveOne("dead letter", dead)
	checkEqual("the same MessageId", *message.MessageId, *sent.MessageId)
	checkEqual("DeadLetterQueueSourceArn", *message.Attributes["DeadLetterQueueSourceArn"], attributesOf(url)["QueueArn"])
	remove(url)
	remove(dead)
}

// moves starts a slow move task, cancels it, and lets another one do the rest.
func moves() {
	dead, other := must(create("moves-dead", nil)), must(create("moves-other", nil))
	source, destination := attributesOf(dead)["QueueArn"], attributesOf(other)["QueueArn"]
	start := func(rate int64) (*sqs.StartMessageMoveTaskOutput, error) {
		return client.StartMessageMoveTask(&sqs.StartMessageMoveTaskInput{
			SourceArn: &source, DestinationArn: &destination, MaxNumberOfMessagesPerSecond: &rate,
		})
	}
	status := func() string {
		tasks := must(client.ListMessageMoveTasks(&sqs.ListMessageMoveTasksInput{SourceArn: &source})).Results
		if len(tasks) == 0 {
			return ""
		}
		return *tasks[0].Status
	}
	_, err := start(1)
	checkRefused("a move from no dead-letter queue", err, "InvalidParameterValue", 400)
	policy := fmt.Sprintf(`{"deadLetterTargetArn":"%s","maxReceiveCount":1}`, source)
	work := must(create("moves-work", map[string]*string{"RedrivePolicy": &policy}))
	checkEqual("no task yet", status(), "")
	for n := range 10 {
		must(send(dead, fmt.Sprint("letter ", n)))
	}
	task := must(start(1))
	_, err = start(1)
	checkRefused("a second task", err, "InvalidParameterValue", 400)
	checkEqual("it runs", status(), "RUNNING")
	cancel := &sqs.CancelMessageMoveTaskInput{TaskHandle: task.TaskHandle}
	moved := must(client.CancelMessageMoveTask(cancel)).ApproximateNumberOfMessagesMoved
	check("cancelled in the middle", *moved < 10, *moved)
	_, err = client.CancelMessageMoveTask(cancel)
	checkRefused("cancelled twice", err, "ResourceNotFoundException", 404)
	for status() != "CANCELLED" {
		time.Sleep(200 * time.Millisecond)
	}
	must(start(500))
	for status() == "RUNNING" {
		time.Sleep(200 * time.Millisecond)
	}
	checkEqual("then all are moved", counts(dead)+" "+counts(other), "0/0/0 10/0/0")
	_, err = client.ListMessageMoveTasks(&sqs.ListMessageMoveTasksInput{SourceArn: aws.String(source + "-none")})
	checkRefused("a queue that is none", err, "ResourceNotFoundException", 404)
	for _, url := range []string{work, dead, other} {
		remove(url)
	}
}
