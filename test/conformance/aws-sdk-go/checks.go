package main

import (
	"errors"
	"fmt"
	"os"
	"reflect"

	"github.com/aws/smithy-go"
)

// check prints one line; the first wrong answer ends the program with status 1.
func check(what string, holds bool, seen any) {
	if !holds {
		fmt.Printf("FAILED %s: saw %#v\n", what, seen)
		os.Exit(1)
	}
	fmt.Printf("ok %s\n", what)
}

func checkEqual(what string, seen, expected any) {
	check(what, reflect.DeepEqual(seen, expected), seen)
}

// must ends the program when a call that has to work was refused.
func must[T any](answer T, err error) T {
	if err != nil {
		check("a call", false, err.Error())
	}
	return answer
}

func checkCode(what string, err error, code string) {
	var refused smithy.APIError
	check(what+": refused by the service", errors.As(err, &refused), err)
	check(what+": "+code, refused.ErrorCode() == code, refused.ErrorCode())
}

// checkRefused wants the type that a program would name in errors.As.
func checkRefused[T error](what string, err error) {
	var refused T
	check(fmt.Sprintf("%s: refused as %T", what, refused), errors.As(err, &refused), err)
}
