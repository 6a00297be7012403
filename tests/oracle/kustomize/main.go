// Command kustomize-oracle builds kustomize folders with kustomize's own library.
//
// Each line of standard input is a question: the files of a repository, the folder to build, and whether files outside
// that folder may be read. Each line of standard output answers one of them, in the order of the questions. Everything
// stays in memory: no file is read, no program started, nothing fetched.
//
// With the argument "schema" it prints which lists the library merges by key instead, one type per line.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

type question struct {
	// The content of each file by its path from the top of the repository.
	Files map[string][]byte `json:"files"`
	// The folder to build, from the top of the repository.
	Folder string `json:"folder"`
	// Whether a file outside the folder may be read, as Flux allows.
	Unrestricted bool `json:"unrestricted"`
}

// An answer has either objects, in the order of accumulation, or an error.
type answer struct {
	Objects []json.RawMessage `json:"objects"`
	Error   string            `json:"error,omitempty"`
}

func main() {
	work := answerAll
	if len(os.Args) == 2 && os.Args[1] == "schema" {
		work = printSchema
	}
	if err := work(); err != nil {
		fmt.Fprintln(os.Stderr, "kustomize-oracle:", err)
		os.Exit(1)
	}
}

func answerAll() error {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	answers := json.NewEncoder(out)
	answers.SetEscapeHTML(false)
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return out.Flush()
		}
		if err != nil {
			return err
		}
		var asked question
		if err := json.Unmarshal(line, &asked); err != nil {
			return err
		}
		objects, err := build(asked)
		given := answer{Objects: objects}
		if err != nil {
			given = answer{Error: err.Error()}
		}
		if err := answers.Encode(given); err != nil {
			return err
		}
		if in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
}

func build(asked question) (objects []json.RawMessage, err error) {
	// The library panics on some folders that it cannot build.
	defer func() {
		if problem := recover(); problem != nil {
			err = fmt.Errorf("the library gave up: %v", problem)
		}
	}()
	files := filesys.MakeFsInMemory()
	for name, content := range asked.Files {
		if err := files.WriteFile(path.Join("/", name), content); err != nil {
			return nil, err
		}
	}
	options := krusty.MakeDefaultOptions()
	options.Reorder = krusty.ReorderOptionNone
	if asked.Unrestricted {
		options.LoadRestrictions = types.LoadRestrictionsNone
	}
	built, err := krusty.MakeKustomizer(options).Run(files, path.Join("/", asked.Folder))
	if err != nil {
		return nil, err
	}
	objects = []json.RawMessage{}
	for _, resource := range built.Resources() {
		object, err := resource.MarshalJSON()
		if err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
	return objects, nil
}
