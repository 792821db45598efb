/** Where a record of the journal is. */
export type JournalPlace = { readonly partition: number; readonly offset: number };
