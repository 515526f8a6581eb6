package main

import (
	"fmt"
	"os"
	"reflect"

	"github.com/aws/aws-sdk-go/aws/awserr"
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

// checkRefused wants the code that a program would compare, and the status of the answer.
func checkRefused(what string, err error, code string, status int) {
	refused, ok := err.(awserr.RequestFailure)
	check(what+": refused by the service", ok, err)
	checkEqual(what+": "+code, refused.Code(), code)
	checkEqual(what+": its status", refused.StatusCode(), status)
	check(what+": its request id", refused.RequestID() != "", refused)
}

func did(deeds ...string) {
	for _, deed := range deeds {
		fmt.Printf("did %s\n", deed)
	}
}
