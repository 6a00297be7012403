module oracle/template

go 1.26.0
