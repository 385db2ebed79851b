// SPDX-License-Identifier: Apache-2.0
package skein.wf;

/** Gets the rows that pass the filters, for tallies that are not planned here but written by a user. One for each worker. */
public interface RowSink {
    /** Takes {@code rows[0, n)} of a batch, which means nothing any more after the call. */
    void add(Rows batch, int[] rows, int n);

    /** Adds what another worker's sink has taken. */
    void merge(RowSink other);
}
