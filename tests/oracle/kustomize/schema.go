package main

import (
	"bufio"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"

	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/kustomize/kyaml/openapi"
)

// A line says what can be merged below one type. Types below which no list is merged have no line.
type line struct {
	Type string `json:"type"`
	// The kinds that have this type, each as its apiVersion, a space and its kind.
	Kinds  []string         `json:"kinds,omitempty"`
	Fields map[string]field `json:"fields"`
}

// A field is an object, a map of objects, a list that is merged by keys, or one that is merged as a set.
type field struct {
	Object string   `json:"object,omitempty"`
	Map    string   `json:"map,omitempty"`
	List   string   `json:"list,omitempty"`
	Keys   []string `json:"keys,omitempty"`
	Set    bool     `json:"set,omitempty"`
}

func (f field) below() string {
	return f.Object + f.Map + f.List
}

func printSchema() error {
	definitions := openapi.Schema().Definitions
	types := map[string]line{}
	for name, definition := range definitions {
		fields := map[string]field{}
		for key, property := range definition.Properties {
			if found, ok := fieldOf(property); ok {
				fields[key] = found
			}
		}
		types[name] = line{Type: name, Kinds: kindsOf(definition), Fields: fields}
	}
	useful := usefulTypes(types)

	out := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(out)
	for _, name := range slices.Sorted(maps.Keys(useful)) {
		fields := types[name].Fields
		maps.DeleteFunc(fields, func(_ string, found field) bool {
			if found.Set || useful[found.below()] {
				return false
			}
			return found.Keys == nil
		})
		for key, found := range fields {
			if !useful[found.List] {
				found.List = ""
			}
			fields[key] = found
		}
		if err := encoder.Encode(types[name]); err != nil {
			return err
		}
	}
	return out.Flush()
}

// fieldOf returns what the library makes of a property, where that is more than replacing it.
func fieldOf(property spec.Schema) (field, bool) {
	if name := nameOf(property); name != "" {
		return field{Object: name}, true
	}
	if values := property.AdditionalProperties; values != nil && values.Schema != nil {
		name := nameOf(*values.Schema)
		return field{Map: name}, name != ""
	}
	if !property.Type.Contains("array") {
		return field{}, false
	}
	schema := openapi.ResourceSchema{Schema: &property}
	strategy, keys := schema.PatchStrategyAndKeyList()
	if !slices.Contains(strings.Split(strategy, ","), "merge") {
		return field{}, false
	}
	if len(keys) == 0 {
		return field{Set: true}, true
	}
	found := field{Keys: keys}
	if property.Items != nil && property.Items.Schema != nil {
		found.List = nameOf(*property.Items.Schema)
	}
	return found, true
}

// usefulTypes returns the types that have a merged list somewhere below them.
func usefulTypes(types map[string]line) map[string]bool {
	useful := map[string]bool{}
	for grown := true; grown; {
		grown = false
		for name, known := range types {
			if useful[name] {
				continue
			}
			for _, found := range known.Fields {
				if found.Set || found.Keys != nil || useful[found.below()] {
					useful[name], grown = true, true
				}
			}
		}
	}
	return useful
}

// nameOf returns the name of the definition that a schema refers to.
func nameOf(schema spec.Schema) string {
	name, found := strings.CutPrefix(schema.Ref.String(), "#/definitions/")
	if !found {
		return ""
	}
	return name
}

func kindsOf(definition spec.Schema) []string {
	kinds := []string{}
	known, _ := definition.Extensions["x-kubernetes-group-version-kind"].([]any)
	for _, entry := range known {
		entry, _ := entry.(map[string]any)
		group, _ := entry["group"].(string)
		version, _ := entry["version"].(string)
		kind, _ := entry["kind"].(string)
		if group != "" {
			version = group + "/" + version
		}
		kinds = append(kinds, version+" "+kind)
	}
	slices.Sort(kinds)
	return kinds
}
