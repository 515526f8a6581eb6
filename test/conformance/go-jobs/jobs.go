// Package jobs is what the workers of every Go SDK share: what they tell worker-trial.ts, which see (empty files, one an
// event), and what their jobs carry, with the MD5 that the SDKs leave to others.
package jobs

import (
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Queue is the name of the workers' queue.
var Queue = os.Getenv("JOB_QUEUE")

// An Attribute has Bytes or a Text.
type Attribute struct {
	Name, Type, Text string
	Bytes            []byte
}

// AttributesOf a job are in the order of their names.
func AttributesOf(number string) []Attribute {
	return []Attribute{
		{Name: "bytes", Type: "Binary", Bytes: []byte{0, 255}},
		{Name: "kind", Type: "String", Text: "größe 😀"},
		{Name: "number", Type: "Number.int", Text: number},
	}
}

// MD5Of the attributes of a job.
func MD5Of(number string) string {
	hash := md5.New()
	update := func(data []byte) {
		hash.Write(binary.BigEndian.AppendUint32(nil, uint32(len(data))))
		hash.Write(data)
	}
	for _, attribute := range AttributesOf(number) {
		update([]byte(attribute.Name))
		update([]byte(attribute.Type))
		if attribute.Bytes != nil {
			hash.Write([]byte{2})
			update(attribute.Bytes)
		} else {
			hash.Write([]byte{1})
			update([]byte(attribute.Text))
		}
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// Batches of the arguments `FROM COUNT`: the jobs' numbers, ten at a time.
func Batches(from, count string) [][]string {
	first, next := number(from), [][]string{}
	for n := range number(count) {
		if n%10 == 0 {
			next = append(next, nil)
		}
		next[len(next)-1] = append(next[len(next)-1], strconv.Itoa(first+n))
	}
	return next
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return n
}

// Run a job: false once for the one that fails; stays for minutes in the one that hangs.
func Run(number string) bool {
	if number == os.Getenv("JOB_FAILS") && !happened("failed", number, "*") {
		record("failed", number)
		return false
	}
	if number == os.Getenv("JOB_HANGS") {
		elsewhere := happened("started", number, "*") && !happened("started", number, os.Getenv("JOB_WORKER"))
		record("started", number)
		if !elsewhere {
			time.Sleep(5 * time.Minute)
		}
	}
	record("done", number)
	return true
}

func file(event, number, worker string) string {
	return filepath.Join(os.Getenv("JOB_RECORDS"), event+"-"+number+"."+worker)
}

func record(event, number string) {
	if err := os.WriteFile(file(event, number, os.Getenv("JOB_WORKER")), nil, 0o600); err != nil {
		panic(err)
	}
}

func happened(event, number, worker string) bool {
	found, err := filepath.Glob(file(event, number, worker))
	if err != nil {
		panic(err)
	}
	return len(found) > 0
}
