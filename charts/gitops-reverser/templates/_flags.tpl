{{/* Every setting of the operator as one flag, in the order of docs/flags.md. */}}
{{- define "gitops-reverser.flags" -}}
{{- $manager := .Values.controllerManager -}}
{{- $audit := .Values.servers.audit -}}
{{- $attribution := .Values.attribution -}}
{{- $redis := .Values.queue.redis -}}
- --in-cluster-kube-providers={{ include "gitops-reverser.inClusterKubeProviders" . }}
- --additional-sensitive-resources={{ join "," $manager.additionalSensitiveResources }}
- --insecure-kubeconfig-exec={{ $manager.insecureKubeconfigExec }}
- --insecure-kubeconfig-tls={{ $manager.insecureKubeconfigTLS }}
- --data-dir=/var/lib/gitops-reverser
- --branch-buffer-max-size={{ $manager.branchBufferMaxSize }}
- --git-refresh-interval={{ .Values.git.refreshInterval }}
- --git-call-timeout={{ .Values.git.callTimeout }}
- --git-cycle-timeout={{ .Values.git.cycleTimeout }}
- --insecure-allow-git-http={{ $manager.insecureAllowGitHTTP }}
- --default-known-hosts-configmap={{ $manager.defaultKnownHostsConfigMap }}
- --insecure-allow-missing-known-hosts={{ $manager.insecureAllowMissingKnownHosts }}
{{- with $manager.recordSteps }}
- --record-steps={{ . }}
{{- end }}
- --api-bind-address={{ .Values.servers.api.bindAddress }}
- --api-tls-mode={{ .Values.tls.mode }}
- --api-service={{ include "gitops-reverser.apiService" . }}
- --api-registration={{ .Values.apiservice.registration }}
{{- if .Values.rbac.create }}
- --api-owner={{ include "gitops-reverser.fullname" . }}
{{- end }}
- --health-probe-bind-address={{ .Values.servers.healthProbe.bindAddress }}
- --metrics-bind-address={{ .Values.servers.metrics.bindAddress }}
- --metrics-insecure={{ not .Values.servers.metrics.tls.enabled }}
- --enable-http2={{ .Values.servers.enableHTTP2 }}
- --replica-count={{ .Values.replicaCount }}
- --commit-request-ttl={{ $manager.commitRequestTTL }}
- --author-attribution={{ $attribution.enabled }}
- --author-attribution-transport={{ $attribution.transport }}
- --author-attribution-ttl={{ $attribution.ttl }}
- --author-attribution-grace={{ $attribution.grace }}
- --author-attribution-max-facts-per-type={{ int $attribution.maxFactsPerType }}
- --author-attribution-max-facts={{ int $attribution.maxFacts }}
- --author-attribution-collection-window={{ $attribution.collectionWindow }}
- --author-attribution-collection-uid-cap={{ int $attribution.collectionUIDCap }}
- --author-attribution-audit-route-annotation-key={{ $attribution.auditRouteAnnotationKey }}
- --audit-bind-address={{ $audit.bindAddress }}
- --audit-max-request-body-bytes={{ int $audit.maxRequestBodyBytes }}
- --audit-read-timeout={{ $audit.timeouts.read }}
- --audit-write-timeout={{ $audit.timeouts.write }}
- --audit-idle-timeout={{ $audit.timeouts.idle }}
- --receiver-bind-address={{ ternary .Values.servers.receiver.bindAddress "0" .Values.servers.receiver.enabled }}
- --redis-addr={{ $redis.addr }}
- --redis-username={{ $redis.auth.username }}
- --redis-db={{ int $redis.db }}
- --redis-key-prefix={{ $redis.keyPrefix }}
{{- if $redis.addr }}
- --redis-insecure={{ not $redis.tls.enabled }}
{{- end }}
- --zap-log-level={{ .Values.logging.level }}
- --zap-devel={{ .Values.logging.development }}
- --zap-encoder={{ .Values.logging.encoder }}
- --zap-stacktrace-level={{ .Values.logging.stacktraceLevel }}
- --zap-time-encoding={{ .Values.logging.timeEncoding }}
{{- end }}
