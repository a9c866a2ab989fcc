import { reasonName } from '../../shared/display-names.ts';
import { type Item, isNote, type NoteItem, reportsOf } from '../words/api-model.ts';
import { formatRate, formatTime, toSentenceCase } from '../words/format.ts';
import { truncate } from '../words/labels.ts';
import { MarkedText } from '../words/marked-text.tsx';

const MAX_QUOTE_LENGTH = 60;

function toShort(word: string): string {
  const short = truncate(word, MAX_QUOTE_LENGTH);
  return short === word ? word : `${short}…`;
}

const SCREENING_TEXTS = {
  pending: 'Screening is in progress.',
  unavailable: 'Screening is unavailable. You can decide without it.',
  done: 'Screening found nothing.',
} as const;

/** Why an item is in the queue: the screening's findings and the reports. */
export function Flags({ item }: { item: Item }) {
  const reports = reportsOf(item);
  return (
    <section class="flags">
      <h3>{flagsHeading(item)}</h3>
      {isNote(item) && <Findings screening={item.screening} />}
      {!isNote(item) && reports.length === 0 && <p class="hint">No reports.</p>}
      {reports.length > 0 && (
        <ul class="findings">
          {reports.map((report) => (
            <li key={report.id} class="finding report">
              Reported as {reasonName(report.reason)} by{' '}
              {report.member_id ? 'a member' : 'a visitor'}, {formatTime(report.reported_at)}
              {report.state !== 'open' && ` (${report.state})`}
              {report.details && <MarkedText text={report.details} class="quoted" />}
            </li>
          ))}
        </ul>
      )}
      {isNote(item) && item.guest_reporters > 1 && (
        <p class="hint">{item.guest_reporters} visitors reported this note in the last 48 hours.</p>
      )}
    </section>
  );
}

function flagsHeading(item: Item): string {
  if (!isNote(item)) return 'Reports';
  return reportsOf(item).length > 0 ? 'Findings and reports' : 'Findings';
}

/** The notes behind a finding such as "same text as 14 rejected notes". */
export function LookAlikes({ note }: { note: NoteItem }) {
  if (note.look_alikes.length === 0) return null;
  return (
    <section class="thread alike">
      <h3>Similar notes</h3>
      <ul>
        {note.look_alikes.map(({ id, state, text, similarity }) => (
          <li key={id}>
            <p class="hint">
              {formatRate(similarity)} similar · <span class={`tag ${state}`}>{state}</span>
            </p>
            <MarkedText text={text} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Findings({ screening }: Pick<NoteItem, 'screening'>) {
  return (
    <>
      {screening.findings.length === 0 ? (
        <p class={screening.state === 'unavailable' ? 'box look' : 'hint'}>
          {SCREENING_TEXTS[screening.state]}
        </p>
      ) : (
        <ul class="findings">
          {screening.findings.map(({ code, text, words }) => (
            <li key={code} class="finding">
              <MarkedText text={toSentenceCase(text)} />
              {code !== 'reads_like_rejected' &&
                words.map((word) => <MarkedText key={word} text={toShort(word)} class="word" />)}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
