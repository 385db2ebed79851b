// SPDX-License-Identifier: Apache-2.0
package skein.wf;

/**
 * A key that a tally counts by, or a part of one.
 *
 * @param kind the source of the key
 * @param column for a field, a path and a site, the column of a {@link Rows}
 * @param seconds for a time, the length of a bin
 */
public record KeyPart(Kind kind, int column, long seconds) {
    /** Where a key comes from. */
    public enum Kind {
        /** The bytes of a field. */
        FIELD,
        /** A field up to its first question mark. */
        PATH,
        /** The host in a URL, without its port. A URL without a scheme has no host, and so no key. */
        SITE,
        /** {@code 2xx} and so on. A line without a status has no key. */
        STATUS_CLASS,
        /** {@code 00} to {@code 23}, by the log's clock. */
        HOUR_OF_DAY,
        /** {@code Mon} to {@code Sun}, as a digit from 1 and the name. */
        WEEKDAY,
        /** {@code 2006-03}. */
        MONTH,
        /** The time at which a bin begins: {@code 2006-03-30 10:20:00}, as far as the bin's length needs it. */
        TIME
    }
}
