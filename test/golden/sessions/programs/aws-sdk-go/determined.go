package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// The signer's time is an argument of every call, so the clock needs no other place.
type signerAt struct {
	signer *v4.Signer
	moment *time.Time
}

func (s signerAt) SignHTTP(
	ctx context.Context, keys aws.Credentials, r *http.Request, hash, service, region string, _ time.Time,
	options ...func(*v4.SignerOptions),
) error {
	return s.signer.SignHTTP(ctx, keys, r, hash, service, region, *s.moment, options...)
}

func signedAt(moment *time.Time) func(*sqs.Options) {
	return func(o *sqs.Options) { o.HTTPSignerV4 = signerAt{v4.NewSigner(), moment} }
}

// Go ranges over a map in an order it draws anew each time, and the SDK writes maps as it finds them: another order is
// another body with another signature. A body whose maps are not sorted is thrown away before it is signed, and the
// SDK asked again; what goes out is what it wrote.
var errOrder = errors.New("the maps are in another order")

var calls int64

func inOrder(send func() (any, error)) (any, error) {
	calls++
	for {
		answer, err := send()
		if !errors.Is(err, errOrder) {
			return answer, err
		}
	}
}

func determined() []func(*config.LoadOptions) error {
	look := middleware.BuildMiddlewareFunc("SortedMaps", func(
		ctx context.Context, in middleware.BuildInput, next middleware.BuildHandler,
	) (middleware.BuildOutput, middleware.Metadata, error) {
		request := in.Request.(*smithyhttp.Request)
		body, err := io.ReadAll(request.GetStream())
		if err == nil {
			err = request.RewindStream()
		}
		if err == nil && !sorted(json.NewDecoder(bytes.NewReader(body)), "") {
			err = errOrder
		}
		if err != nil {
			return middleware.BuildOutput{}, middleware.Metadata{}, err
		}
		// Drawn by the SDK from a source that it keeps to itself.
		id := mathrand.New(mathrand.NewSource(calls))
		low, high := id.Uint64(), id.Uint64()
		request.Header.Set("Amz-Sdk-Invocation-Id", fmt.Sprintf(
			"%08x-%04x-4%03x-8%03x-%012x", uint32(low), uint16(low>>32), low>>52, high>>52, high&(1<<48-1)))
		return next.HandleBuild(ctx, in)
	})
	add := func(stack *middleware.Stack) error { return stack.Build.Add(look, middleware.After) }
	return []func(*config.LoadOptions) error{config.WithAPIOptions([]func(*middleware.Stack) error{add})}
}

var maps = map[string]bool{
	"Attributes": true, "MessageAttributes": true, "MessageSystemAttributes": true, "Tags": true, "tags": true,
}

// sorted reads one JSON value, the one under this name.
func sorted(from *json.Decoder, under string) bool {
	token, _ := from.Token()
	bracket, opens := token.(json.Delim)
	if !opens {
		return true
	}
	all, last := true, ""
	for from.More() {
		name := ""
		if bracket == '{' {
			key, _ := from.Token()
			name = key.(string)
			all = all && !(maps[under] && name < last)
			last = name
		}
		all = sorted(from, name) && all
	}
	_, _ = from.Token()
	return all
}
