// SPDX-License-Identifier: Apache-2.0
package skein.rt;

/** A channel in which any number of takes and puts may wait: for permits and results, which nobody produces too fast. */
public class UnlimitedChannel extends Channel {

  /** @param buffer where values wait, or null for none */
  public UnlimitedChannel(Buffer buffer) {
    super(buffer);
  }

  @Override final boolean unlimited() {
    return true;
  }
}
