{{/* Refuses what the schema cannot see: features that are not built, and values that contradict each other. */}}
{{- define "gitops-reverser.validate" -}}
{{- $notBuilt := dict
  "attribution.enabled" .Values.attribution.enabled
  "servers.receiver.enabled" .Values.servers.receiver.enabled
  "servers.metrics.tls.enabled" .Values.servers.metrics.tls.enabled
  "applierAccess.flux" .Values.applierAccess.flux
  "applierAccess.argocd" .Values.applierAccess.argocd
}}
{{- range $value, $enabled := $notBuilt }}
{{- if $enabled }}
{{- fail (printf "%s=true asks for a feature that is not built yet; leave it false" $value) }}
{{- end }}
{{- end }}
{{- if ne .Values.tls.mode "self" }}
{{- fail "tls.mode=secret asks for a feature that is not built yet; leave it self" }}
{{- end }}
{{- if gt (int .Values.replicaCount) 1 }}
{{- fail "replicaCount above 1 asks for a feature that is not built yet: replicas would not share the work; leave it 1" }}
{{- end }}
{{- if and (not .Values.serviceAccount.create) (not .Values.serviceAccount.name) }}
{{- fail "serviceAccount.create=false needs serviceAccount.name" }}
{{- end }}
{{- if and (eq .Values.rbac.watchTypes.mode "selected") (not .Values.rbac.watchTypes.selected) }}
{{- fail "rbac.watchTypes.mode=selected needs at least one entry in rbac.watchTypes.selected" }}
{{- end }}
{{- if and (eq .Values.service.type "ExternalName") (not .Values.service.externalName) }}
{{- fail "service.type=ExternalName needs service.externalName" }}
{{- end }}
{{- if .Values.quickstart.enabled }}
{{- include "gitops-reverser.validateQuickstart" . }}
{{- end }}
{{- end }}

{{- define "gitops-reverser.validateQuickstart" -}}
{{- if not .Values.kubeProvider.create }}
{{- fail "quickstart.enabled=true mirrors through the chart's KubeProvider and needs kubeProvider.create=true" }}
{{- end }}
{{- with .Values.quickstart }}
{{- $needed := dict
  "namespace" .namespace
  "gitProvider.url" .gitProvider.url
  "gitBranch.branch" .gitBranch.branch
  "gitTarget.path" .gitTarget.path
  "watchRule.rules" .watchRule.rules
}}
{{- range $value, $given := $needed }}
{{- if not $given }}
{{- fail (printf "quickstart.enabled=true needs quickstart.%s" $value) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
