//! The desk at which GitBranches claim their branch: one owner of the registry, asked by message.

use std::time::Duration;

use model::GitBranchKey;
use policy::{BranchClaims, Candidate, ClaimState};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::failure::Failure;
use crate::place::Place;
use crate::routes::{Wake, Wakes};

/// How many questions may wait.
const INBOX: usize = 32;

/// Asks the desk. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct ClaimDesk {
    questions: mpsc::Sender<(Question, oneshot::Sender<ClaimState>)>,
}

/// What a GitBranch wants of its claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Question {
    /// It is admitted and proved: enter it, or ask again.
    Offer(Box<Candidate>),
    /// It is not admitted any more, or going away.
    Withdraw(GitBranchKey),
    /// Its writer has drained.
    Released(GitBranchKey),
    /// Nothing: tell where it stands.
    Show(GitBranchKey),
}

/// The end that the desk reads.
#[derive(Debug)]
pub(crate) struct Questions(mpsc::Receiver<(Question, oneshot::Sender<ClaimState>)>);

/// Creates the two ends of the desk.
pub(crate) fn desk() -> (ClaimDesk, Questions) {
    let (questions, receiver) = mpsc::channel(INBOX);
    (ClaimDesk { questions }, Questions(receiver))
}

impl ClaimDesk {
    /// Asks, and returns where the GitBranch stands afterwards.
    pub(crate) async fn ask(&self, question: Question) -> Result<ClaimState, Failure> {
        let stopped = || Failure::Stopped("the claim desk");
        let (answer, answered) = oneshot::channel();
        self.questions
            .send((question, answer))
            .await
            .map_err(|_| stopped())?;
        answered.await.map_err(|_| stopped())
    }
}

/// Answers questions until the token is cancelled, and wakes everybody else whom an answer concerns.
pub(crate) async fn serve(mut questions: Questions, wakes: Wakes, shutdown: CancellationToken) {
    let mut claims = BranchClaims::default();
    loop {
        let question = tokio::select! { biased;
            () = shutdown.cancelled() => return,
            question = questions.0.recv() => question,
        };
        let Some((question, answer)) = question else {
            return;
        };
        let key = question.key().clone();
        let before = claims.state_of(&key);
        let mut concerned = claims.rivals_of(&key);
        let state = decide(&mut claims, question);
        concerned.extend(claims.rivals_of(&key));
        // A question whose asker is gone was still a question: the claim stands as it was decided.
        let _gone = answer.send(state.clone());
        if state != before {
            for rival in &concerned {
                wakes
                    .send(Wake::GitBranch(Place::from(rival)), Duration::ZERO)
                    .await;
            }
        }
    }
}

fn decide(claims: &mut BranchClaims, question: Question) -> ClaimState {
    match question {
        Question::Offer(candidate) => claims.offer(&candidate),
        Question::Withdraw(key) => claims.withdraw(&key),
        Question::Released(key) => {
            claims.released(&key);
            claims.state_of(&key)
        }
        Question::Show(key) => claims.state_of(&key),
    }
}

impl Question {
    fn key(&self) -> &GitBranchKey {
        match self {
            Self::Offer(candidate) => &candidate.key,
            Self::Withdraw(key) | Self::Released(key) | Self::Show(key) => key,
        }
    }
}

#[cfg(test)]
mod tests {
    use model::{BranchName, RepositoryUrl, Uid};
    use tokio::task::JoinSet;

    use super::*;

    fn candidate(name: &str, created_at: u64) -> Candidate {
        Candidate {
            key: GitBranchKey::from(&Place::named("team-a", name).unwrap()),
            uid: Uid::new(name).unwrap(),
            created_at,
            repository: RepositoryUrl::new("https://git.example.com/repo")
                .unwrap()
                .id(),
            branch: BranchName::new("main").unwrap(),
        }
    }

    #[tokio::test]
    async fn an_older_claim_wakes_the_holder_and_the_freed_branch_wakes_the_older_one() {
        let (wakes, mut inboxes) = Wakes::channels();
        let (desk, questions) = desk();
        let shutdown = CancellationToken::new();
        let mut tasks = JoinSet::new();
        tasks.spawn(serve(questions, wakes, shutdown.clone()));
        let (old, young) = (candidate("old", 1), candidate("young", 2));
        let offer = |candidate: &Candidate| Question::Offer(Box::new(candidate.clone()));
        assert_eq!(desk.ask(offer(&young)).await.unwrap(), ClaimState::Holds);
        let behind = ClaimState::Waits {
            behind: Some(young.key.clone()),
        };
        assert_eq!(desk.ask(offer(&old)).await.unwrap(), behind);
        assert_eq!(
            inboxes.git_branch.recv().await.unwrap().place,
            Place::from(&young.key)
        );
        desk.ask(Question::Released(young.key.clone()))
            .await
            .unwrap();
        assert_eq!(
            inboxes.git_branch.recv().await.unwrap().place,
            Place::from(&old.key)
        );
        assert_eq!(desk.ask(offer(&old)).await.unwrap(), ClaimState::Holds);
        shutdown.cancel();
        tasks.join_next().await.unwrap().unwrap();
    }
}
