"""The wire: adb device protocol, adb server protocol, and the services behind them."""
