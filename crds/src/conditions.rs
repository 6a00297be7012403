//! Condition types and reasons: the words by which every kind says how it is.
//!
//! One closed set for all kinds, so that the same word means the same thing everywhere and a reason that
//! nobody documented cannot be written. Which reason belongs to which condition is the reconcilers' affair.

use crate::words::words;

words! {
    /// What a condition is about.
    pub enum ConditionType {
        /// Sums up all other conditions.
        Ready = "Ready",
        /// Progress goes on without anybody's help.
        Reconciling = "Reconciling",
        /// A person has to repair something first.
        Stalled = "Stalled",
        /// The spec and what it refers to are fit for use.
        Validated = "Validated",
        /// The audit route of a KubeProvider has delivered at least once.
        AuditFactsReceived = "AuditFactsReceived",
        /// The CommitRequests of a source cluster are served.
        CommitRequestsServed = "CommitRequestsServed",
        /// Sensitive resources can be encrypted.
        EncryptionConfigured = "EncryptionConfigured",
        /// Accepted changes of a GitBranch are kept on the disk until they are published.
        JournalWritten = "JournalWritten",
        /// The GitBranch of a GitTarget holds its branch and is ready.
        GitBranchReady = "GitBranchReady",
        /// The KubeProvider of a GitTarget is ready.
        KubeProviderReady = "KubeProviderReady",
        /// The source cluster answers.
        SourceClusterReachable = "SourceClusterReachable",
        /// Every watch is past its initial replay.
        StreamsRunning = "StreamsRunning",
        /// The folder in Git is safe to write.
        GitPathAccepted = "GitPathAccepted",
        /// The folder, rendered, agrees with the live objects.
        RenderMatchesLive = "RenderMatchesLive",
        /// The shape of the folder is known.
        LayoutResolved = "LayoutResolved",
        /// The applier claim of a GitTarget is ready and applies this folder's branch.
        ApplierClaimReady = "ApplierClaimReady",
        /// The selection of a rule names types that can be watched.
        ResourcesResolved = "ResourcesResolved",
        /// The GitTarget of a rule can write.
        GitTargetReady = "GitTargetReady",
        /// The grants let a rule watch the namespaces it names.
        SourceNamespaceAuthorized = "SourceNamespaceAuthorized",
        /// An applier claim found an applier that it may hold.
        Configured = "Configured",
        /// An applier claim decides when its applier applies.
        InControl = "InControl",
        /// The commit of a CommitRequest is on the remote.
        Pushed = "Pushed",
        /// The applier caught up with the commit of a CommitRequest.
        Applied = "Applied",
    }
}

words! {
    /// Why a condition has its status.
    pub enum Reason {
        // Of every kind.
        /// Everything holds.
        Succeeded = "Succeeded",
        /// Something is under way, or waits for a retry that needs nobody.
        Progressing = "Progressing",
        /// A check has not answered yet.
        Checking = "Checking",
        /// A reconcile is under way.
        Reconciling = "Reconciling",
        /// A person has to repair something first.
        Stalled = "Stalled",
        /// No grant admits the namespace.
        NamespaceNotAuthorized = "NamespaceNotAuthorized",
        /// A part of the spec that only a reconcile can check is not valid.
        InvalidConfig = "InvalidConfig",
        /// Something that comes first is not there yet.
        Blocked = "Blocked",
        // GitProvider and GitReceiver.
        /// The Secret does not exist.
        SecretNotFound = "SecretNotFound",
        /// The Secret lacks a key or holds an unusable one.
        SecretMalformed = "SecretMalformed",
        /// The Git server cannot be reached, or refuses the credential.
        ConnectionFailed = "ConnectionFailed",
        /// The committer or the signing key cannot be used.
        CommitConfigInvalid = "CommitConfigInvalid",
        /// The operator serves no receiver.
        ListenerDisabled = "ListenerDisabled",
        // GitBranch.
        /// The GitProvider does not exist.
        GitProviderNotFound = "GitProviderNotFound",
        /// The GitProvider is not ready.
        GitProviderNotReady = "GitProviderNotReady",
        /// No pattern of the admitting grants matches the branch.
        BranchNotAllowed = "BranchNotAllowed",
        /// The credential cannot open a push session.
        PushSessionFailed = "PushSessionFailed",
        /// The host opened the session and refused the update.
        PushRefused = "PushRefused",
        /// Another GitBranch holds this branch of the repository.
        BranchConflict = "BranchConflict",
        /// Neither the branch nor its parent is on the remote.
        ParentBranchNotFound = "ParentBranchNotFound",
        /// The parent is back, and what was held is being published.
        RecoveringParentBranch = "RecoveringParentBranch",
        /// The disk of the operator does not take what should be kept.
        StorageUnavailable = "StorageUnavailable",
        // KubeProvider.
        /// The operator's own identity is used.
        InCluster = "InCluster",
        /// The Secret with the kubeconfig does not exist.
        KubeConfigSecretNotFound = "KubeConfigSecretNotFound",
        /// The Secret has no such key.
        KubeConfigKeyNotFound = "KubeConfigKeyNotFound",
        /// The kubeconfig cannot be read.
        KubeConfigInvalid = "KubeConfigInvalid",
        /// The kubeconfig would run a program.
        KubeConfigExecNotAllowed = "KubeConfigExecNotAllowed",
        /// The kubeconfig turns certificate checks off.
        KubeConfigInsecureTlsNotAllowed = "KubeConfigInsecureTLSNotAllowed",
        /// The kubeconfig points to a file of the operator's own.
        KubeConfigFileReferenceNotAllowed = "KubeConfigFileReferenceNotAllowed",
        /// The installation does not list this provider for its own identity.
        InClusterNotAuthorized = "InClusterNotAuthorized",
        /// Another namespace holds the audit route.
        AuditRouteConflict = "AuditRouteConflict",
        /// The route that follows from namespace and name is too long; auditRoute has to be set.
        AuditRouteTooLong = "AuditRouteTooLong",
        /// A fact has arrived.
        Received = "Received",
        /// The fact transport fails, so no route can be judged.
        TransportUnavailable = "TransportUnavailable",
        /// No audit request has reached this operator.
        NoAuditDelivery = "NoAuditDelivery",
        /// Audit arrives, and no fact for this route.
        RouteUnused = "RouteUnused",
        /// CommitRequests are watched.
        Watching = "Watching",
        /// No GitTarget is lent a namespace of this cluster.
        NothingToWatch = "NothingToWatch",
        /// The cluster does not know CommitRequests.
        CrdNotInstalled = "CRDNotInstalled",
        /// The cluster serves another version of CommitRequests.
        VersionNotServed = "VersionNotServed",
        /// The credential lacks a permission.
        Forbidden = "Forbidden",
        /// The cluster's API could not be read.
        Unreachable = "Unreachable",
        // GitTarget.
        /// Writing, or an applier, is stopped on purpose.
        Suspended = "Suspended",
        /// The GitBranch does not exist.
        GitBranchNotFound = "GitBranchNotFound",
        /// The GitBranch does not hold its branch, or is not ready.
        GitBranchNotReady = "GitBranchNotReady",
        /// The KubeProvider does not exist.
        KubeProviderNotFound = "KubeProviderNotFound",
        /// The KubeProvider is not ready.
        KubeProviderNotReady = "KubeProviderNotReady",
        /// An older GitTarget writes the same folder, or one around or below it.
        TargetConflict = "TargetConflict",
        /// The spec is not valid.
        ValidationFailed = "ValidationFailed",
        /// Encryption is not asked for.
        NotRequired = "NotRequired",
        /// The Secret with the age keys does not exist.
        MissingSecret = "MissingSecret",
        /// The Secret with the age keys may not be created.
        SecretCreateDisabled = "SecretCreateDisabled",
        /// Encryption cannot be used.
        EncryptionNotConfigured = "EncryptionNotConfigured",
        /// Nobody writes the branch yet.
        WorkerUnavailable = "WorkerUnavailable",
        /// The source is the operator's own cluster.
        LocalCluster = "LocalCluster",
        /// The source cluster answers.
        SourceClusterReachable = "SourceClusterReachable",
        /// The source cluster does not answer.
        SourceClusterUnreachable = "SourceClusterUnreachable",
        /// The source cluster does not accept the credential.
        SourceClusterAuthenticationFailed = "SourceClusterAuthenticationFailed",
        /// The credential may not read what is needed.
        SourceClusterAccessDenied = "SourceClusterAccessDenied",
        /// The types of the source cluster are not known yet.
        AwaitingDiscovery = "AwaitingDiscovery",
        /// Every watch is past its initial replay.
        AllStreamsReady = "AllStreamsReady",
        /// A first replay is under way.
        InitialReplay = "InitialReplay",
        /// A replay after a pause is under way.
        ResumeReplay = "ResumeReplay",
        /// A replay after lost history is under way.
        ExpiredResourceVersion = "ExpiredResourceVersion",
        /// A watch cannot be opened or kept.
        WatchError = "WatchError",
        /// The credential may not watch a type.
        WatchNotPermitted = "WatchNotPermitted",
        /// The branch takes no changes until a push lands.
        BranchIntakePaused = "BranchIntakePaused",
        /// A watch is not ready.
        NotReady = "NotReady",
        /// No rule selects a type that can be watched.
        NoResolvedTypes = "NoResolvedTypes",
        /// The folder is safe to write.
        GitPathAccepted = "GitPathAccepted",
        /// The folder holds content that cannot be kept up.
        UnsupportedContent = "UnsupportedContent",
        /// An ignore file hides a path that is written.
        IgnoreShadowsManagedPath = "IgnoreShadowsManagedPath",
        /// A write would leave what this target may write.
        WriteBoundaryRefused = "WriteBoundaryRefused",
        /// The folder has several render roots, so a new document has no place.
        AmbiguousLayout = "AmbiguousLayout",
        /// Documents without a namespace would come from several.
        MultipleSourceNamespaces = "MultipleSourceNamespaces",
        /// A new document would lie outside the render root.
        UnrenderedPlacement = "UnrenderedPlacement",
        /// The folder was not read yet.
        NotChecked = "NotChecked",
        /// The render agrees with the live objects.
        RenderMatchesLive = "RenderMatchesLive",
        /// The render differs from the live objects.
        RenderDoesNotMatchLive = "RenderDoesNotMatchLive",
        /// The render is being compared again.
        Rechecking = "Rechecking",
        /// One kustomization governs the folder.
        SingleKustomization = "SingleKustomization",
        /// No kustomization governs the folder.
        None = "None",
        /// Several kustomizations govern the folder.
        Ambiguous = "Ambiguous",
        /// The applier claim does not exist.
        ApplierClaimNotFound = "ApplierClaimNotFound",
        /// The applier applies another repository or branch.
        SourceMismatch = "SourceMismatch",
        /// No GitTarget names the applier claim.
        NotReferenced = "NotReferenced",
        // WatchRule and ClusterWatchRule.
        /// Every selected type can be watched.
        Resolved = "Resolved",
        /// A selected name is unknown or ambiguous.
        UnresolvedResources = "UnresolvedResources",
        /// The label selector is not valid.
        InvalidObjectSelector = "InvalidObjectSelector",
        /// An older rule, or another item, watches the same objects.
        CollectionOverlap = "CollectionOverlap",
        /// The grants do not give a cluster-scoped type.
        ClusterResourceNotAllowed = "ClusterResourceNotAllowed",
        /// The grants give every namespace that is named.
        SourceNamespaceAllowed = "SourceNamespaceAllowed",
        /// The grants do not give a namespace that is named.
        SourceNamespaceNotAllowed = "SourceNamespaceNotAllowed",
        /// The GitTarget does not exist.
        GitTargetNotFound = "GitTargetNotFound",
        /// The GitTarget has no Ready condition to repeat yet.
        GitTargetNotReady = "GitTargetNotReady",
        // FluxClaim and ArgoCDClaim.
        /// No GitTarget that names the claim can use it.
        NotBound = "NotBound",
        /// The applier does not exist.
        ApplierNotFound = "ApplierNotFound",
        /// The applier's source follows no branch.
        UnsupportedSource = "UnsupportedSource",
        /// This version of Argo CD cannot be asked.
        ArgoCdVersionNotSupported = "ArgoCDVersionNotSupported",
        /// An ApplicationSet owns the Application.
        OwnedByApplicationSet = "OwnedByApplicationSet",
        /// Somebody else sets the automated sync.
        AutomatedSyncOwnedElsewhere = "AutomatedSyncOwnedElsewhere",
        /// Somebody else sets the suspension.
        SuspendOwnedElsewhere = "SuspendOwnedElsewhere",
        /// The grants do not give the applier's namespace.
        ApplierNamespaceNotAllowed = "ApplierNamespaceNotAllowed",
        /// Another claim holds the applier.
        HeldByAnotherClaim = "HeldByAnotherClaim",
        /// An apply that was asked for is under way.
        Applying = "Applying",
        /// The automated sync is off.
        AutomatedSyncOff = "AutomatedSyncOff",
        /// The applier is being suspended.
        Suspending = "Suspending",
        /// The applier is being handed back.
        Releasing = "Releasing",
        /// The applier is being handed back, because a grant is gone.
        Revoking = "Revoking",
        /// The claim is not configured.
        NotConfigured = "NotConfigured",
        /// An operation did not complete in time.
        OperationUnresolved = "OperationUnresolved",
        // CommitRequest.
        /// The save is under way.
        Saving = "Saving",
        /// A commit was pushed.
        Committed = "Committed",
        /// No window came in time.
        NoWindow = "NoWindow",
        /// Only another author's window was open.
        WindowMismatch = "WindowMismatch",
        /// Git held everything already.
        AlreadyPresent = "AlreadyPresent",
        /// Nobody knows who made the request.
        AuthorUnresolved = "AuthorUnresolved",
        /// The GitTarget does not admit the request.
        NotAllowed = "NotAllowed",
        /// An earlier save of the same author is not done.
        SaveInProgress = "SaveInProgress",
        /// The commit could not be made or pushed.
        FinalizeFailed = "FinalizeFailed",
        /// Nobody writes the branch yet.
        WaitingForWorker = "WaitingForWorker",
        /// No window is open yet.
        WaitingForWindow = "WaitingForWindow",
        /// The window is open.
        CollectingWindow = "CollectingWindow",
        /// The commit is not on the remote yet.
        WaitingForPush = "WaitingForPush",
        /// The commit is on the remote.
        Pushed = "Pushed",
        /// An apply did not complete and is asked for again.
        Retrying = "Retrying",
        /// The apply was not done in time.
        TimedOut = "TimedOut",
        /// A restart came before the outcome was known.
        Lost = "Lost",
        /// The applier applied the commit.
        Applied = "Applied",
        /// The request pushed no commit.
        NothingToApply = "NothingToApply",
        /// The GitTarget names no applier claim.
        NoApplierClaim = "NoApplierClaim",
        /// The GitTarget stopped naming the claim that was asked.
        ApplierGone = "ApplierGone",
        /// The branch no longer holds the commit.
        CommitDropped = "CommitDropped",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_unique_and_found_again() {
        for reason in Reason::ALL {
            assert_eq!(Reason::from_word(reason.as_str()), Some(*reason));
        }
        for condition in ConditionType::ALL {
            assert_eq!(
                ConditionType::from_word(condition.as_str()),
                Some(*condition)
            );
        }
        assert_eq!(Reason::from_word("Unheard"), None);
    }

    #[test]
    fn every_reason_is_one_that_kubernetes_accepts() {
        for reason in Reason::ALL {
            let word = reason.as_str();
            assert!(word.starts_with(|c: char| c.is_ascii_uppercase()), "{word}");
            assert!(
                word.bytes().all(|byte| byte.is_ascii_alphanumeric()),
                "{word}"
            );
        }
    }
}
