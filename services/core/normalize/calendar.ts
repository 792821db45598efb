/**
 * Dates and times by arithmetic alone: no clock, no zone of the machine, no locale. Only
 * unambiguous spellings are accepted: the year first, or the month as an English word.
 */
import { type Normalizer, textOr } from "./normalizer.ts";

type Day = { readonly year: number; readonly month: number; readonly day: number };

const YEAR_FIRST = /^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})$/;
const COMPACT = /^(\d{4})(\d{2})(\d{2})$/;
const DAY_FIRST = /^(\d{1,2})(?:st|nd|rd|th)? ([a-z]{3,9})\.?,? (\d{4})$/i;
const MONTH_FIRST = /^([a-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})$/i;

const MONTHS: readonly string[] = [
  "january",
  "february",
  "march",
  "april",
  "may",
  "june",
  "july",
  "august",
  "september",
  "october",
  "november",
  "december",
];

/** A calendar day as `2024-05-19`. `05/19/2024` is refused: its order differs between countries. */
export const date: Normalizer = textOr("date", "a date such as 2024-05-19", (text) => {
  const day = readDay(text);
  return day === null ? null : dayText(day);
});

const DATE_TIME =
  /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)? ?([Zz]|[+-]\d{2}(?::?\d{2})?)?$/;

/**
 * A moment as `2024-05-19T10:00:00Z`; without an offset the local time `2024-05-19T12:00:00`, which
 * is no moment and equals none. Fractions of seconds lose their trailing zeros.
 */
export const datetime: Normalizer = textOr(
  "datetime",
  "a time such as 2024-05-19T12:00:00+02:00",
  (text) => {
    if (MOMENT.test(text)) return text;
    const [, date_ = "", hour = "", minute = "", second = "00", fraction = "", offset] =
      DATE_TIME.exec(text) ?? [];
    const day = readDay(date_);
    const minutes = Number(hour) * 60 + Number(minute);
    if (day === null || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59)
      return null;
    const rest = fraction.replace(/0+$/, "");
    const seconds = rest === "" ? second : `${second}.${rest}`;
    if (offset === undefined) return `${dayText(day)}T${hour}:${minute}:${seconds}`;
    const shift = offsetMinutes(offset);
    return shift === null ? null : utcText(day, minutes - shift, seconds);
  },
);

/** A moment that is in its final form already, on a day that every month has. */
const MOMENT =
  /^(?!0000)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;

const DAY_MINUTES = 1_440;

function utcText(day: Day, minutes: number, seconds: string): string | null {
  const days = Math.floor(minutes / DAY_MINUTES);
  const shifted = fromDayNumber(toDayNumber(day) + days);
  if (shifted.year < 1 || shifted.year > 9999) return null;
  const left = minutes - days * DAY_MINUTES;
  const clock = `${twoDigits(Math.floor(left / 60))}:${twoDigits(left % 60)}:${seconds}`;
  return `${dayText(shifted)}T${clock}Z`;
}

function offsetMinutes(offset: string): number | null {
  if (/^z$/i.test(offset)) return 0;
  const digits = offset.slice(1).replace(":", "");
  const hours = Number(digits.slice(0, 2));
  const minutes = Number(digits.slice(2) || "0");
  if (hours > 23 || minutes > 59) return null;
  return (offset.startsWith("-") ? -1 : 1) * (hours * 60 + minutes);
}

function readDay(text: string): Day | null {
  const yearFirst = YEAR_FIRST.exec(text);
  if (yearFirst !== null) return dayOf(yearFirst[1], yearFirst[3], yearFirst[4]);
  const compact = COMPACT.exec(text);
  if (compact !== null) return dayOf(compact[1], compact[2], compact[3]);
  const dayFirst = DAY_FIRST.exec(text);
  if (dayFirst !== null) return dayOf(dayFirst[3], monthNumber(dayFirst[2]), dayFirst[1]);
  const monthFirst = MONTH_FIRST.exec(text);
  if (monthFirst !== null) return dayOf(monthFirst[3], monthNumber(monthFirst[1]), monthFirst[2]);
  return null;
}

/** The number of a month by its name or its first three letters; none for other words. */
function monthNumber(word = ""): string {
  const lower = word.toLowerCase() === "sept" ? "sep" : word.toLowerCase();
  const at = MONTHS.findIndex((month) => month === lower || month.slice(0, 3) === lower);
  return String(at + 1);
}

function dayOf(yearText = "", monthText = "", dayText_ = ""): Day | null {
  const [year, month, day] = [Number(yearText), Number(monthText), Number(dayText_)];
  const exists =
    year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= monthDays(year, month);
  return exists ? { year, month, day } : null;
}

function monthDays(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

/**
 * Days since 0000-03-01 of the Gregorian calendar; years that begin in March end with the leap day.
 */
function toDayNumber({ year, month, day }: Day): number {
  const y = month > 2 ? year : year - 1;
  const monthFromMarch = (month + 9) % 12;
  const dayOfYear = Math.floor((153 * monthFromMarch + 2) / 5) + day - 1;
  return 365 * y + Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400) + dayOfYear;
}

/** Days of 400 years, after which the calendar repeats itself. */
const ERA_DAYS = 146_097;

function fromDayNumber(number: number): Day {
  const era = Math.floor(number / ERA_DAYS);
  const dayOfEra = number - era * ERA_DAYS;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1_460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / (ERA_DAYS - 1))) /
      365,
  );
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const month = ((monthFromMarch + 2) % 12) + 1;
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

function dayText({ year, month, day }: Day): string {
  return `${String(year).padStart(4, "0")}-${twoDigits(month)}-${twoDigits(day)}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}
