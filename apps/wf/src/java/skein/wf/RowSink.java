// SPDX-License-Identifier: Apache-2.0
package skein.wf;

/** Gets the rows that pass the filters, for tallies that a user has written. Each worker has its own sink. */
public interface RowSink {
    /** Takes {@code rows[0, n)} of a batch. The batch is invalid after the call. */
    void add(Rows batch, int[] rows, int n);

    /** Adds the results of another worker's sink. */
    void merge(RowSink other);
}
