import type { Item, Subject } from './api-model.ts';

/** The console's item id: a note's id, or `type/id` of a record, since ids repeat across types. */
export const toItemId = ({ type, id }: Subject): string => (type === 'note' ? id : `${type}/${id}`);

export const toSubject = (name: string): Subject => {
  const [type = '', id] = name.split('/');
  return id === undefined ? { type: 'note', id: name } : { type: type as Subject['type'], id };
};

/** The item as a subject in the API, such as `note/id`. */
export const toSubjectPath = (name: string): string => (name.includes('/') ? name : `note/${name}`);

export const toPath = (name: string): string =>
  name.includes('/') ? `subjects/${name}` : `notes/${name}`;

/** Replaces the id of a record from the service by the console's item id. */
export const withItemId = <Given extends Item>(item: Given): Given =>
  'subject' in item ? { ...item, id: toItemId(item.subject) } : item;
