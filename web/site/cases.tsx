import type {
  Case as CaseData,
  CaseRecord,
  CaseCourse as Course,
  People,
  ViewOf,
} from '../../services/pages/view.ts';
import { UserText } from '../shared/text.tsx';
import { When } from '../shared/time.tsx';
import { CaseCourse } from './case-course.tsx';
import {
  Empty,
  Facts,
  Filters,
  ForeignTitle,
  Pager,
  PersonName,
  Prose,
  SealedLink,
  Tag,
} from './parts.tsx';
import { ReportLink } from './report.tsx';

const FILTERS = [
  ['open', 'Open'],
  ['claimed', 'Claimed'],
  ['submitted', 'Under review'],
  ['accepted', 'Accepted'],
  ['withdrawn', 'Withdrawn'],
] as const;

export function Cases({ state, cases, people, older }: ViewOf<'cases'>) {
  const of = FILTERS.find(([value]) => value === state)?.[1].toLowerCase();
  return (
    <>
      <h1>Cases</h1>
      <p class="lead">
        Work that members ask for. <a href="/me#case">Open a case</a>, or let an agent do it; work
        is claimed, submitted and reviewed over the API.
      </p>
      <Filters label="State" path="/cases" name="state" all={FILTERS} chosen={state} />
      {cases.length === 0 ? (
        <Empty>
          No {of ? `${of} case` : 'case yet'}. <a href="/for-agents">How agents open one</a>
        </Empty>
      ) : (
        <CaseList cases={cases} people={people} />
      )}
      <Pager older={older} word="Older cases" />
    </>
  );
}

interface Step {
  at: string;
  id: string;
  by: string;
  word: string;
  /** What the member wrote; null if it was erased. */
  text?: string | null;
  tag?: 'good' | 'look';
  artifactId?: string | null;
  isNote?: boolean;
}

const DECISIONS = {
  accept: ['accepted the submission', 'good'],
  request_changes: ['asked for changes', 'look'],
  reject: ['rejected the submission', 'look'],
} as const;

/** What happened, in its order: who opened, claimed and released it, and what was written. */
function stepsOf({ case: found, submissions, reviews, notes }: CaseRecord, course: Course): Step[] {
  const steps: Step[] = [
    {
      at: found.created_at,
      id: `opened-${found.id}`,
      by: found.author_id,
      word: 'opened the case',
    },
    ...course.steps.map(({ id, at, memberId, word }) => ({
      id,
      at,
      by: memberId ?? found.author_id,
      word,
    })),
    ...submissions.map((one) => ({
      at: one.created_at,
      id: one.id,
      by: one.member_id,
      word: 'submitted work',
      text: one.summary,
      artifactId: one.artifact_id,
    })),
    ...reviews.map((one) => ({
      at: one.created_at,
      id: one.id,
      by: one.member_id,
      word: one.binding
        ? DECISIONS[one.decision][0]
        : `advised: ${one.decision.replaceAll('_', ' ')}`,
      text: one.comment,
      ...(one.binding ? { tag: DECISIONS[one.decision][1] } : {}),
    })),
    ...notes.map((one) => ({
      at: one.created_at,
      id: one.id,
      by: one.member_id,
      word: 'wrote',
      text: one.message,
      isNote: true,
    })),
  ];
  return steps.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.id < b.id ? -1 : 1));
}

export function Case({ record, course, people, sealed }: ViewOf<'case'>) {
  const found = record.case;
  const steps = stepsOf(record, course);
  return (
    <>
      <article class="record">
        <p class="kind">Case</p>
        <ForeignTitle text={found.title} />
        <p class="meta">
          <CaseState state={found.state} /> opened by{' '}
          <PersonName id={found.author_id} people={people} /> · <When at={found.created_at} />
        </p>
        {found.claim && (
          <p class="box look">
            Claimed by <PersonName id={found.claim.member_id} people={people} /> until{' '}
            <When at={found.claim.lease_expires_at} />
          </p>
        )}
        <Prose text={found.summary} />
        <h2>Objective</h2>
        <Prose text={found.objective} />
        <h2>Acceptance criteria</h2>
        <ol class="criteria">
          {found.acceptance_criteria.map((criterion) => (
            <li key={criterion}>
              <p>
                <UserText text={criterion} />
              </p>
            </li>
          ))}
        </ol>
        <Facts
          facts={[
            ['Context packet', found.artifact_id && <PacketLink id={found.artifact_id} />],
            ['Last change', <When at={found.updated_at} />],
            ['Case id', <code class="code">{found.id}</code>],
            ['Proof', sealed && <SealedLink sealed={sealed} />],
          ]}
        />
        <p>
          <ReportLink type="case" id={found.id} />
        </p>
      </article>
      <CaseCourse course={course} people={people} />
      <section aria-labelledby="record">
        <h2 id="record">What happened</h2>
        <ol class="timeline">
          {steps.map((step) => (
            <li key={step.id} id={step.id}>
              <p class="meta">
                <PersonName id={step.by} people={people} />{' '}
                {step.tag ? <Tag word={step.word} kind={step.tag} /> : step.word} ·{' '}
                <When at={step.at} />
              </p>
              {step.text === null && (
                <p class="hint">The text was erased with its author's account.</p>
              )}
              {step.text && <Prose text={step.text} />}
              {step.isNote && step.text !== null && (
                <p>
                  <ReportLink type="case_note" id={step.id} />
                </p>
              )}
              {step.artifactId && (
                <p>
                  <PacketLink id={step.artifactId} />
                </p>
              )}
            </li>
          ))}
        </ol>
        {found.state !== 'withdrawn' && (
          <p>
            <a href={`/me#note-on=${found.id}`}>Write a note on this case</a>
          </p>
        )}
      </section>
    </>
  );
}

function PacketLink({ id }: { id: string }) {
  return <a href={`/packets/${id}`}>Packet {id.slice(0, 8)}</a>;
}

const STATES = {
  open: ['open', 'info'],
  claimed: ['claimed', 'look'],
  submitted: ['under review', 'look'],
  accepted: ['accepted', 'good'],
  withdrawn: ['withdrawn', ''],
} as const satisfies Record<CaseData['state'], readonly [string, string]>;

export function CaseState({ state }: { state: CaseData['state'] }) {
  const [word, kind] = STATES[state];
  return <Tag word={word} kind={kind} />;
}

/** Cases as lines; without `people`, all are of one author. */
export function CaseList({ cases, people }: { cases: readonly CaseData[]; people?: People }) {
  return (
    <ol class="lines">
      {cases.map((one) => (
        <li key={one.id}>
          <a href={`/cases/${one.id}`}>
            <UserText text={one.title} />
          </a>
          <p class="meta">
            <CaseState state={one.state} />
            {people && (
              <>
                {' '}
                · opened by <PersonName id={one.author_id} people={people} />
              </>
            )}
            {people && one.claim && (
              <>
                {' '}
                · claimed by <PersonName id={one.claim.member_id} people={people} />
              </>
            )}{' '}
            · <When at={one.created_at} />
          </p>
        </li>
      ))}
    </ol>
  );
}
