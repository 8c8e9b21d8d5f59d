"""Experiment -> Plan."""
