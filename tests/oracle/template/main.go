// Command template-oracle says what Go's text/template makes of a commit.
//
// Each line of standard input is a question: the source of a template, and the commit that it words. Each line of
// standard output is the answer for one of them, in the order of the questions.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/template"
)

type question struct {
	Source string `json:"source"`
	// One of the two is there.
	Live      *live      `json:"live"`
	Reconcile *reconcile `json:"reconcile"`
}

// An answer has either a text or an error.
type answer struct {
	Text  string `json:"text"`
	Error string `json:"error,omitempty"`
}

// live is a window of live writes.
type live struct {
	Author         string
	GitTarget      string
	Count          int
	Operations     map[string]int
	Resources      []resource
	RequestMessage string
}

// resource is one changed object.
type resource struct {
	Operation       string
	Group           string
	Version         string
	Resource        string
	Kind            string
	Namespace       string
	Name            string
	APIVersion      string
	ResourceVersion string
	Generation      int64
	Labels          map[string]string
}

// reconcile is a snapshot.
type reconcile struct {
	Count           int
	GitTarget       string
	Group           string
	Version         string
	Resource        string
	APIVersion      string
	Namespace       string
	ResourceVersion string
}

func (r resource) Label(key string) string {
	return r.Labels[key]
}

func (r resource) String() string {
	parts := []string{r.Group, r.Version, r.Resource, r.Namespace, r.Name}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), "/")
}

func (l live) LabelValues(key string) []string {
	values := []string{}
	for _, resource := range l.Resources {
		if value, ok := resource.Labels[key]; ok {
			values = append(values, value)
		}
	}
	slices.Sort(values)
	return slices.Compact(values)
}

func (l live) LabelValue(key string) string {
	agreed := ""
	for index, resource := range l.Resources {
		value, ok := resource.Labels[key]
		if !ok || (index > 0 && value != agreed) {
			return ""
		}
		agreed = value
	}
	return agreed
}

func main() {
	if err := answerAll(); err != nil {
		fmt.Fprintln(os.Stderr, "template-oracle:", err)
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
		if err := answers.Encode(word(asked)); err != nil {
			return err
		}
		if in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
}

// word executes a template as the product's documents say: without functions of its own, and with an error where a
// map lacks what is asked for.
func word(asked question) answer {
	parsed, err := template.New("message").Option("missingkey=error").Parse(asked.Source)
	if err != nil {
		return answer{Error: err.Error()}
	}
	var text strings.Builder
	if asked.Live != nil {
		err = parsed.Execute(&text, *asked.Live)
	} else {
		err = parsed.Execute(&text, *asked.Reconcile)
	}
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Text: text.String()}
}
