import { Component, type ComponentChild } from 'preact';
import { serviceNow } from '../../shared/time.tsx';
import { claimWithToast } from '../claims/claims.ts';
import type { HeldLease } from '../in-progress/leases.ts';
import type { Mark } from '../in-progress/sent.ts';
import { focusOn } from '../queue/queue.ts';
import { setOpen, toggleSelection } from '../queue/queue-state.ts';
import { appealOf, type Item, isNote, type ListView, reportsOf } from '../words/api-model.ts';
import {
  currentAge,
  foldText,
  formatDuration,
  formatShort,
  formatTime,
  plural,
} from '../words/format.ts';
import { excerptAround } from '../words/hits.ts';
import { authorName, isErased, kindName, toExcerpt } from '../words/labels.ts';
import { MarkedText } from '../words/marked-text.tsx';

/** Class and text of the tag; a clear note has none. */
const BANDS = {
  clear: ['', ''],
  look: ['look', 'Has findings'],
  likely_spam: ['spam', 'Likely spam'],
} as const;

const MAX_EXCERPT_LENGTH = 140;

interface RowProps {
  item: Item;
  /** The place in the list, from 1, and the number of rows; the list renders few of them. */
  place: number;
  rows: number;
  isCurrent: boolean;
  isSelected: boolean;
  /** Undefined if the moderator cannot select. */
  canSelect: boolean;
  isGone: boolean;
  mark: Mark | undefined;
  lease: HeldLease | undefined;
  when: string;
  /** The text is folded for its words. */
  shielded: boolean;
  /** The search that found the item, or an empty text. */
  query: string;
}

/** A row of the list. Memoized, because each key press renders the list again. */
export const Row = memo(function row(props: RowProps) {
  const { item, place, rows, isCurrent, isSelected, canSelect, isGone, mark, lease, when, query } =
    props;
  const { shielded } = props;
  const lost = lease?.lost ?? false;
  const claimedByOther = item.claim !== null && !item.claim.mine;
  const classes = [
    'row',
    isCurrent && 'here',
    (lost || claimedByOther) && 'grey',
    isGone && 'gone',
    mark && `is-${mark.kind}`,
  ];
  return (
    <li class={classes.filter(Boolean).join(' ')} aria-setsize={rows} aria-posinset={place}>
      {canSelect && isNote(item) && !isGone && (
        <label class="pick">
          <input
            type="checkbox"
            checked={isSelected}
            onChange={() => toggleSelection(item.id)}
            tabIndex={isCurrent ? 0 : -1}
          />
          <span class="visually-hidden">
            Select the note by <MarkedText text={authorName(item)} />
          </span>
        </label>
      )}
      <button
        type="button"
        class="row-main"
        id={`row-${item.id}`}
        aria-current={isCurrent ? 'true' : undefined}
        tabIndex={isCurrent ? 0 : -1}
        onClick={() => {
          setOpen(true);
          focusOn(item.id);
        }}
      >
        <span class="row-line">
          <MarkedText text={authorName(item)} class="author" query={query} />
          <RowTags item={item} mark={mark} lease={lease} />
          <span class="age">{when}</span>
        </span>
        <span class="excerpt">
          {isErased(item) ? (
            <em>erased</em>
          ) : shielded ? (
            <em>abusive words: folded</em>
          ) : (
            <MarkedText
              text={excerptAround(toExcerpt(item), query, MAX_EXCERPT_LENGTH)}
              query={query}
            />
          )}
        </span>
        {mark?.kind === 'conflict' && <span class="row-fault">{mark.text}</span>}
      </button>
      {lost && (
        <button type="button" class="button again" onClick={() => void claimWithToast(item.id)}>
          Claim again
        </button>
      )}
    </li>
  );
});

/**
 * What the list is ordered by: the age of the oldest open report or of the appeal in their views, else
 * the age of a pending item and the time of the decision on a decided one.
 */
export function whenText(item: Item, view: ListView): string {
  const since = view === 'reported' ? firstReport(item) : view === 'appeals' && appealTime(item);
  if (since) return formatDuration(Math.floor((serviceNow() - Date.parse(since)) / 1000));
  return item.state !== 'pending' && item.decision
    ? formatTime(item.decision.decided_at)
    : formatDuration(currentAge(item));
}

const firstReport = (item: Item): string | undefined =>
  reportsOf(item)
    .filter(({ state }) => state === 'open')
    .map(({ reported_at: at }) => at)
    .sort()[0];

const appealTime = (item: Item): string | undefined => appealOf(item)?.opened_at;

interface RowTagsProps {
  item: Item;
  mark: Mark | undefined;
  lease: HeldLease | undefined;
}

/** The tags of a row, on its first line: a tag that comes or goes moves no other row. */
function RowTags({ item, mark, lease }: RowTagsProps) {
  const note = isNote(item) ? item : null;
  const reports = reportsOf(item);
  const [band, bandText] = note?.screening.band ? BANDS[note.screening.band] : BANDS.clear;
  return (
    <span class="tags">
      {mark?.kind === 'deciding' && <span class="tag">Sending…</span>}
      {lease && !lease.lost && <span class="tag mine">Claimed by you</span>}
      {item.claim && !item.claim.mine && (
        <span class="tag">
          Claimed by <bdi>{item.claim.moderator.name}</bdi>
        </span>
      )}
      {lease?.lost && <span class="tag due">Claim lost</span>}
      {bandText && <span class={`tag ${band}`}>{bandText}</span>}
      {note?.fold && <span class="tag fold">{foldText(note.fold)}</span>}
      {note?.past_due && <span class="tag due">Past due</span>}
      {note?.tier === 'lead' && <span class="tag lead">Escalated</span>}
      {kindName(item) !== 'Note' && <span class="tag">{kindName(item)}</span>}
      {reports.length > 0 && <span class="tag">{plural(reports.length, 'report')}</span>}
      {appealOf(item)?.state === 'open' && <span class="tag">Appeal</span>}
      {item.state !== 'pending' && item.state !== 'published' && (
        <span class={`tag ${item.state}`}>{item.state}</span>
      )}
      {note?.deferred_until && <span class="tag">Until {formatShort(note.deferred_until)}</span>}
    </span>
  );
}

/** Renders a component again only if one of its props has changed; it must not read a state. */
function memo<Props extends object>(view: (props: Props) => ComponentChild) {
  return class Memo extends Component<Props> {
    override shouldComponentUpdate(next: Readonly<Props>): boolean {
      const names = Object.keys(next) as (keyof Props)[];
      return names.some((name) => next[name] !== (this.props as Props)[name]);
    }

    override render(props: Readonly<Props>): ComponentChild {
      return view(props);
    }
  };
}
