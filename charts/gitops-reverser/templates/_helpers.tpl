{{/* The name of the chart, or what overrides it. */}}
{{- define "gitops-reverser.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* The first part of every object's name. */}}
{{- define "gitops-reverser.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" }}
{{- else }}
{{- $name := include "gitops-reverser.name" . }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{/* What the Deployment and the Services select by. Never changes, because a selector cannot. */}}
{{- define "gitops-reverser.selectorLabels" -}}
app.kubernetes.io/name: {{ include "gitops-reverser.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* The labels of every object. */}}
{{- define "gitops-reverser.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{ include "gitops-reverser.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* The name of the ServiceAccount that the Pod runs as. */}}
{{- define "gitops-reverser.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "gitops-reverser.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{/* Not empty when a server listens at the address. */}}
{{- define "gitops-reverser.listens" -}}
{{- if not (has (toString .) (list "" "0")) }}yes{{ end }}
{{- end }}

{{/* The KubeProviders that may use the operator's own identity, the chart's own among them. */}}
{{- define "gitops-reverser.inClusterKubeProviders" -}}
{{- $providers := .Values.controllerManager.inClusterKubeProviders }}
{{- if and .Values.kubeProvider.create (not .Values.kubeProvider.secretRef.name) }}
{{- $providers = append $providers (printf "%s/%s" .Release.Namespace .Values.kubeProvider.name) }}
{{- end }}
{{- $providers | uniq | join "," }}
{{- end }}

{{/* The Service in front of the extension API, as the operator's flag takes it. */}}
{{- define "gitops-reverser.apiService" -}}
{{- $port := int .Values.service.ports.api }}
{{- printf "%s/%s" .Release.Namespace (include "gitops-reverser.fullname" .) }}
{{- if ne $port 443 }}:{{ $port }}{{ end }}
{{- end }}
