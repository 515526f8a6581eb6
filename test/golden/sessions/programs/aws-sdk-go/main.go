// Plays one part of script.json with aws-sdk-go-v2, as it signs at a given time and draws its invocation ids from a
// seed: aws-sdk-go SCRIPT PART. Every call is made a second after the one before; `wait` moves the clock further.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"
)

type options struct {
	Save    map[string]string
	Refused bool
	As      *struct{ AccessKeyId, SecretAccessKey string }
}

var (
	ctx    = context.Background()
	moment = time.Date(2027, 1, 15, 8, 1, 0, 0, time.UTC)
	names  = map[string]string{}
	name   = regexp.MustCompile(`\$\{(\w+)\}`)
)

func fail(what string, why any) {
	fmt.Printf("%s: %v\n", what, why)
	os.Exit(1)
}

// filled puts in what earlier answers said; the value is inside a JSON string of the script, sometimes of a string in it.
func filled(given json.RawMessage) []byte {
	return name.ReplaceAllFunc(given, func(match []byte) []byte {
		value, known := names[string(name.FindSubmatch(match)[1])]
		if !known {
			fail("there is no", string(match))
		}
		quoted, _ := json.Marshal(value)
		return quoted[1 : len(quoted)-1]
	})
}

func at(answer any, path string) string {
	text, _ := json.Marshal(answer)
	var value any
	_ = json.Unmarshal(text, &value)
	for _, part := range strings.Split(path, ".") {
		if index, err := strconv.Atoi(part); err == nil {
			value = value.([]any)[index]
		} else {
			value = value.(map[string]any)[part]
		}
	}
	return value.(string)
}

// send calls the method of the action's name with the input that the script spells out in JSON.
func send(client *sqs.Client, action string, given []byte) (any, error) {
	method := reflect.ValueOf(client).MethodByName(action)
	input := reflect.New(method.Type().In(1).Elem())
	if err := json.Unmarshal(given, input.Interface()); err != nil {
		fail(action, err)
	}
	result := method.Call([]reflect.Value{reflect.ValueOf(ctx), input})
	err, _ := result[1].Interface().(error)
	return result[0].Interface(), err
}

func call(action string, given json.RawMessage, how options) {
	settings := determined()
	if how.As != nil {
		settings = append(settings, config.WithCredentialsProvider(
			credentials.NewStaticCredentialsProvider(how.As.AccessKeyId, how.As.SecretAccessKey, "")))
	}
	loaded, err := config.LoadDefaultConfig(ctx, settings...)
	if err != nil {
		fail("configuration", err)
	}
	client := sqs.NewFromConfig(loaded, signedAt(&moment))
	answer, err := inOrder(func() (any, error) { return send(client, action, filled(given)) })
	var refused smithy.APIError
	if err != nil && !(how.Refused && errors.As(err, &refused)) {
		fail(action, err)
	}
	if err == nil && how.Refused {
		fail(action, "was not refused")
	}
	if err != nil {
		fmt.Printf("%s: %s\n", action, refused)
		return
	}
	for name, path := range how.Save {
		names[name] = at(answer, path)
	}
	fmt.Println(action)
}

func main() {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		fail("script", err)
	}
	var script map[string][][]json.RawMessage
	if err := json.Unmarshal(text, &script); err != nil {
		fail("script", err)
	}
	for _, step := range script[os.Args[2]] {
		var action string
		var seconds int
		var how options
		_ = json.Unmarshal(step[0], &action)
		if action == "wait" {
			_ = json.Unmarshal(step[1], &seconds)
			moment = moment.Add(time.Duration(seconds) * time.Second)
			continue
		}
		if len(step) > 2 {
			_ = json.Unmarshal(step[2], &how)
		}
		moment = moment.Add(time.Second)
		call(action, step[1], how)
	}
}
