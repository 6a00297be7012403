// Command oracle says what YAML means to Kubernetes.
//
// Each line of standard input is a JSON string that holds a text of one or several YAML documents. Each line of
// standard output is the answer for one of them, in the order of the questions. The stream of documents is taken
// apart by the library that sigs.k8s.io/yaml stands on; a text of one document is read by sigs.k8s.io/yaml itself,
// and the two have to agree.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	stream "go.yaml.in/yaml/v2"
	"sigs.k8s.io/yaml"
)

// An answer has either documents or an error.
type answer struct {
	Documents []any `json:"documents"`
	// Whether the text also holds under the strict rules, which refuse keys that stand twice.
	Strict bool   `json:"strict"`
	Error  string `json:"error,omitempty"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}

func run() error {
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
		var text string
		if err := json.Unmarshal(line, &text); err != nil {
			return err
		}
		if err := answers.Encode(judge([]byte(text))); err != nil {
			return err
		}
		if in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
}

func judge(text []byte) answer {
	documents, err := read(text, true)
	strict := err == nil
	if err != nil {
		documents, err = read(text, false)
	}
	if err != nil {
		return answer{Error: err.Error()}
	}
	if len(documents) == 1 {
		if err := agree(text, documents[0], strict); err != nil {
			return answer{Error: err.Error()}
		}
	}
	return answer{Documents: documents, Strict: strict}
}

// read returns the documents of a stream as JSON would hold them.
func read(text []byte, strict bool) (documents []any, err error) {
	// The library panics on a few texts that it cannot read.
	defer func() {
		if problem := recover(); problem != nil {
			err = fmt.Errorf("the library gave up: %v", problem)
		}
	}()
	decoder := stream.NewDecoder(bytes.NewReader(text))
	decoder.SetStrict(strict)
	documents = []any{}
	for {
		var document any
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		if err != nil {
			return nil, err
		}
		converted, err := convert(document)
		if err != nil {
			return nil, err
		}
		documents = append(documents, converted)
	}
}

// agree holds a document against what sigs.k8s.io/yaml makes of the whole text.
func agree(text []byte, document any, strict bool) error {
	read := yaml.YAMLToJSON
	if strict {
		read = yaml.YAMLToJSONStrict
	}
	theirs, err := read(text)
	if err != nil {
		return err
	}
	ours, err := json.Marshal(document)
	if err != nil {
		return err
	}
	if !bytes.Equal(ours, theirs) {
		return fmt.Errorf("the oracle is at odds with itself: %s, %s", ours, theirs)
	}
	return nil
}

// convert turns what the library decodes into what JSON can hold.
func convert(value any) (any, error) {
	switch value := value.(type) {
	case map[any]any:
		object := make(map[string]any, len(value))
		for key, below := range value {
			name, err := nameOf(key)
			if err != nil {
				return nil, err
			}
			if object[name], err = convert(below); err != nil {
				return nil, err
			}
		}
		return object, nil
	case []any:
		list := make([]any, len(value))
		for index, item := range value {
			var err error
			if list[index], err = convert(item); err != nil {
				return nil, err
			}
		}
		return list, nil
	default:
		// Not a number and the infinities fail here.
		_, err := json.Marshal(value)
		return value, err
	}
}

// nameOf returns the JSON key for a YAML key.
func nameOf(key any) (string, error) {
	switch key := key.(type) {
	case string:
		return key, nil
	case bool, int, int64, uint64:
		return fmt.Sprint(key), nil
	case float64:
		name := strconv.FormatFloat(key, 'g', -1, 32)
		switch name {
		case "+Inf":
			name = ".inf"
		case "-Inf":
			name = "-.inf"
		case "NaN":
			name = ".nan"
		}
		return name, nil
	default:
		return "", fmt.Errorf("a key of the type %T has no place in JSON", key)
	}
}
