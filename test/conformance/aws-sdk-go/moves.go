package main

import (
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// moves starts a slow move task, cancels it, and lets another one do the rest.
func moves() {
	dead, other := must(create("moves-dead", nil)), must(create("moves-other", nil))
	source, destination := attributesOf(dead)["QueueArn"], attributesOf(other)["QueueArn"]
	start := func(rate int32) (*sqs.StartMessageMoveTaskOutput, error) {
		return client.StartMessageMoveTask(ctx, &sqs.StartMessageMoveTaskInput{
			SourceArn: &source, DestinationArn: &destination, MaxNumberOfMessagesPerSecond: &rate,
		})
	}
	status := func() string {
		tasks := must(client.ListMessageMoveTasks(ctx, &sqs.ListMessageMoveTasksInput{SourceArn: &source})).Results
		if len(tasks) == 0 {
			return ""
		}
		return *tasks[0].Status
	}
	_, err := start(1)
	checkCode("a move from no dead-letter queue", err, "InvalidParameterValue")
	policy := fmt.Sprintf(`{"deadLetterTargetArn":"%s","maxReceiveCount":1}`, source)
	work := must(create("moves-work", map[string]string{"RedrivePolicy": policy}))
	checkEqual("no task yet", status(), "")
	for n := range 10 {
		must(send(dead, fmt.Sprint("letter ", n)))
	}
	task := must(start(1))
	_, err = start(1)
	checkCode("a second task", err, "InvalidParameterValue")
	checkEqual("it runs", status(), "RUNNING")
	cancel := &sqs.CancelMessageMoveTaskInput{TaskHandle: task.TaskHandle}
	moved := must(client.CancelMessageMoveTask(ctx, cancel)).ApproximateNumberOfMessagesMoved
	check("cancelled in the middle", moved < 10, moved)
	_, err = client.CancelMessageMoveTask(ctx, cancel)
	checkRefused[*types.ResourceNotFoundException]("cancelled twice", err)
	for status() != "CANCELLED" {
		time.Sleep(200 * time.Millisecond)
	}
	must(start(500))
	for status() == "RUNNING" {
		time.Sleep(200 * time.Millisecond)
	}
	checkEqual("then all are moved", counts(dead)+" "+counts(other), "0/0/0 10/0/0")
	_, err = client.ListMessageMoveTasks(ctx, &sqs.ListMessageMoveTasksInput{SourceArn: aws.String(source + "-none")})
	checkRefused[*types.ResourceNotFoundException]("a queue that is none", err)
	for _, url := range []string{work, dead, other} {
		remove(url)
	}
}
