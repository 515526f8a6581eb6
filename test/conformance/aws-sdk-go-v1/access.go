package main

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/aws/aws-sdk-go/aws"
	"github.com/aws/aws-sdk-go/service/sqs"
)

func access() {
	created := must(client.CreateQueue(&sqs.CreateQueueInput{
		QueueName: aws.String(prefix + "access"), Tags: aws.StringMap(map[string]string{"team": "blue", "path/to": ""}),
	}))
	url := *created.QueueUrl
	must(client.TagQueue(&sqs.TagQueueInput{QueueUrl: &url, Tags: aws.StringMap(map[string]string{"team": "red"})}))
	must(client.UntagQueue(&sqs.UntagQueueInput{QueueUrl: &url, TagKeys: []*string{aws.String("path/to")}}))
	tags := must(client.ListQueueTags(&sqs.ListQueueTagsInput{QueueUrl: &url})).Tags
	checkEqual("tags", aws.StringValueMap(tags), map[string]string{"team": "red"})
	grant := func(action string) error {
		_, err := client.AddPermission(&sqs.AddPermissionInput{
			QueueUrl: &url, Label: aws.String("one"), AWSAccountIds: []*string{aws.String("111111111111")}, Actions: []*string{&action},
		})
		return err
	}
	check("AddPermission", grant("SendMessage") == nil, nil)
	check("it writes the policy", strings.Contains(attributesOf(url)["Policy"], "SQS:SendMessage"), attributesOf(url))
	checkRefused("a label once more", grant("*"), "InvalidParameterValue", 400)
	must(client.RemovePermission(&sqs.RemovePermissionInput{QueueUrl: &url, Label: aws.String("one")}))
	checkEqual("RemovePermission", attributesOf(url)["Policy"], "")
	remove(url)
}

func fifo() {
	url := must(create("orders.fifo", aws.StringMap(map[string]string{"FifoQueue": "true", "ContentBasedDeduplication": "true"})))
	put := func(body, group string) (*sqs.SendMessageOutput, error) {
		return client.SendMessage(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: &body, MessageGroupId: &group})
	}
	first, again := must(put("1", "g")), must(put("1", "g"))
	checkEqual("a duplicate is answered like the first", *again.MessageId+*again.SequenceNumber, *first.MessageId+*first.SequenceNumber)
	checkEqual("a number of 20 digits", len(*first.SequenceNumber), 20)
	must(put("2", "g"))
	must(put("other", "h"))
	head := receiveOne("the head of the group", url)
	hash := sha256.Sum256([]byte("1"))
	checkEqual("its group", *head.Attributes["MessageGroupId"], "g")
	checkEqual("deduplicated by content", *head.Attributes["MessageDeduplicationId"], hex.EncodeToString(hash[:]))
	others := must(receive(url, 10, 0))
	check("a locked group lets others by", len(others) == 1 && *others[0].Body == "other", others)
	check("delete the head", drop(url, head.ReceiptHandle) == nil, nil)
	checkEqual("then comes the next", *receiveOne("the next", url).Body, "2")
	_, err := put("3", "a b")
	checkRefused("a group with a space", err, "InvalidParameterValue", 400)
	remove(url)
}
